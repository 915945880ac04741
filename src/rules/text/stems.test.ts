import { describe, expect, it } from 'vitest';
import { type Language, stemmers } from '../../languages.ts';
import { stemsOf } from './stems.ts';

const areForms = (left: string, right: string, ...known: Language[]) => stemsOf(left, known).isFormOf(right);

describe('forms of a word', () => {
  it('are plurals with s in any language, but not where the s belongs to the word', () => {
    expect(areForms('chargers', 'charger')).toBe(true);
    expect(areForms('charger', 'chargers')).toBe(true);
    for (const [left, right] of [
      ['glass', 'glas'],
      ['bus', 'bu'],
      ['tennis', 'tenni'],
      ['gas', 'ga'],
    ] as const)
      expect(areForms(left, right)).toBe(false);
  });

  it.each<[Language, string, string]>([
    ['en', 'batteries', 'battery'],
    ['en', 'charging', 'charge'],
    ['en', 'baby', 'babies'],
    ['de', 'lampen', 'lampe'],
    ['fr', 'cafetieres', 'cafetiere'],
    ['es', 'camisas', 'camisa'],
    ['hi', 'किताबें', 'किताब'],
  ])('are in %s: %s, %s', (language, left, right) => {
    expect(areForms(left, right, language)).toBe(true);
    expect(areForms(right, left, language)).toBe(true);
  });

  it('are no words that only begin alike, have digits, or are much longer', () => {
    expect(areForms('charger', 'changer', 'en')).toBe(false);
    expect(areForms('car', 'cars2', 'en')).toBe(false);
    expect(areForms('car', 'care', 'en')).toBe(false);
    expect(stemsOf('60', ['en']).beginning).toBeUndefined();
  });

  it('begin with what the index is asked for', () => {
    expect(stemsOf('batteries', ['en']).beginning).toBe('batter');
  });

  it('are known of every language that a setting may name', () => {
    for (const language of Object.keys(stemmers) as Language[])
      expect(stemsOf('wort', [language]).isFormOf('wort')).toBe(true);
  });
});
