// The first thing a browser sees: it asks for the token once.
import { html, useState } from '../lib/html.js';
import { signIn } from '../lib/api.js';

export function SignIn({ done }) {
  const [problem, setProblem] = useState('');
  const submit = (event) => {
    event.preventDefault();
    setProblem('');
    signIn(new FormData(event.target).get('token')).then(done, (error) => setProblem(error.message));
  };
  return html`<main class="sign-in"><form onSubmit=${submit}>
    <img src="/assets/mark.svg" alt=""/>
    <h1>Open the vault</h1>
    <p class="quiet">This page shows what your agents and you remember. The key is a token that lies on the machine with the
      notes; this command shows it:</p>
    <pre class="command">vault-memory token</pre>
    <label class="field"><span>Token</span><input name="token" type="password" autocomplete="current-password" required autofocus/></label>
    <p class="error" role="alert">${problem}</p>
    <button class="main">Sign in</button>
  </form></main>`;
}
