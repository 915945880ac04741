import { useState } from 'preact/hooks';
import { param, replaceParams } from '../../router.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { Inbox } from './inbox.tsx';
import { SignatureForm, type SignatureQuestion } from './signature-form.tsx';
import './debug.css';

const tabs = [
  { name: 'signature', label: 'Signature' },
  { name: 'inbox', label: 'Inbox' },
] as const;

export default function DebugPage() {
  const chosen = param('tab') === 'inbox' ? 'inbox' : 'signature';
  const [question, setQuestion] = useState<SignatureQuestion>({ header: '', body: '' });
  return (
    <>
      <header class="page-head">
        <h1>Debug</h1>
        <p>Find out why a signature fails, or watch messages arrive in the inbox.</p>
      </header>
      <Tabs label="Tools" tabs={tabs} chosen={chosen} choose={(tab) => replaceParams('debug', { tab })}>
        {chosen === 'signature' ? (
          <SignatureForm question={question} change={setQuestion} />
        ) : (
          <Inbox
            debug={(taken) => {
              setQuestion(taken);
              replaceParams('debug', { tab: 'signature' });
            }}
          />
        )}
      </Tabs>
    </>
  );
}
