import { foldText } from './words.ts';

/** Words that say little about the search. They match like all others and only weigh less. Words that are nouns in another of these languages are left out ("fur", "hat", "pour"). */
export const commonWords: ReadonlySet<string> = new Set(
  [
    `a am an and any are as at be been but by can could did do does find for from get give had has have he her his how i if in into
     is it its like looking me my near nearby need no not of on or our please search she show some something somewhere than that the
     their them then there these they this to us want was we were what when where which who with would you your buy best good`,
    `aber alle auch auf aus bei bitte brauche das dass dem den der des ein eine einem einen einer es gibt ich im ist kaufen mein
     meine mit nach nicht oder ohne sie sind suche und von was welche wie wir wo zum zur`,
    `au aux avec ce ces cette cherche dans de des du elle est et il je la le les ma mes mon nous ou par pas que qui sans sont un une
     vous voudrais`,
    `al busco como con cual de del donde el en es esta las los me mi necesito para por que quiero se sin su un una unos y`,
    `ao com da das do dos e em esta meu minha na nas no nos num o onde os ou para pelo por preciso procuro quero sem seu sua um uma`,
    `cerco che con del della delle di dove e gli il la le lo mi nel per un una vorrei`,
    `aan een en het hoe ik is met mijn naar niet of op uit van voor waar wat zoek`,
    `в и на с по для из или не что где как я мне мы это хочу ищу`,
    `और एक का की के को चाहिए तो था थी थे ने पर पास भी मुझे में मेरे यह या ये लिए वह से है हैं हूँ कहाँ क्या नहीं`,
  ].flatMap((words) => foldText(words).split(/\s+/)),
);
