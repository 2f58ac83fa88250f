// A form as a request. A network that fails is an answer too: { ok: false, status: 0 }.
// What proves whose page it is stands in the form: a token against forged requests beside a
// rater's session, or the pass of a worker, who has none.

const CREDENTIALS = "[name=csrfmiddlewaretoken], [name=token]";

export async function post(url, form, { keepalive = false } = {}) {
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { Accept: "application/json", ...bearer(form) },
      keepalive,
    });
    const isJson = response.headers.get("Content-Type")?.includes("json");
    const json = isJson ? await response.json() : null;
    return { ok: response.ok && json !== null, status: response.status, json };
  } catch {
    return { ok: false, status: 0, json: null };
  }
}

function bearer(form) {
  const { token } = form.elements;
  return token ? { Authorization: `Bearer ${token.value}` } : {};
}

// Logging in again, in another window, changes the form's token, and a pass runs out: the page
// itself has the new one.
export async function renewCredentials(form) {
  const held = form.querySelector(CREDENTIALS);
  if (!held) return false;
  try {
    const response = await fetch(ownAddress(), { headers: { Accept: "text/html" } });
    if (!response.ok || response.redirected) return false;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("answers")?.querySelector(CREDENTIALS);
    if (!fresh) return false;
    held.value = fresh.value;
    return true;
  } catch {
    return false;
  }
}

export const ownAddress = () => location.pathname + location.search;
