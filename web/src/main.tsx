import { render } from 'preact';
import { listenForChanges } from './api/events.ts';
import { loadSession } from './api/session.ts';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/parts.css';

applyTheme();
void loadSession();
listenForChanges();
const root = document.getElementById('app');
if (root) render(<App />, root);
