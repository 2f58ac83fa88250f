// Hands the answers in. The server takes a repeated submission for the same one, so a network
// that fails is simply tried again; a refusal says why and loses nothing.

import { notice, unknownHere } from "./notices.js";
import { post, renewCredentials } from "./requests.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const TRYING = "Not submitted yet, trying again. Your answers are kept here.";
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function submitAnswers({ form, button, autosave, onErrors }) {
  const label = [...button.childNodes];
  button.disabled = true;
  button.textContent = "Submitting…";
  await autosave.hold();
  form.elements.revision.value = autosave.revision;
  const answer = await untilAnswered(form);
  if (answer.ok) {
    autosave.stop();
    location.assign(answer.json.next_url);
    return;
  }
  button.replaceChildren(...label);
  button.disabled = false;
  autosave.release();
  if (answer.status === 422) onErrors(answer.json.errors);
  else if (answer.json?.error === "newer") autosave.outdated(answer.json.message);
  else notice("submitting", "bad", answer.json?.message ?? "This page could not be submitted.");
}

async function untilAnswered(form) {
  for (let pause = FIRST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    const answer = await post(form.action, form);
    const mayChange = [401, 403, 408, 429].includes(answer.status);
    if (answer.ok || (answer.status >= 400 && answer.status < 500 && !mayChange)) {
      notice("submitting", null);
      return answer;
    }
    const refused = [401, 403].includes(answer.status);
    if (refused && pause === FIRST_WAIT && (await renewCredentials(form))) continue;
    notice("submitting", "bad", ...(refused ? unknownHere("submitted") : [TRYING]));
    await wait(pause);
    if (refused) await renewCredentials(form);
  }
}
