// A form as a request. A network that fails is an answer too: { ok: false, status: 0 }.

export async function post(url, form, { keepalive = false } = {}) {
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { Accept: "application/json" },
      keepalive,
    });
    const isJson = response.headers.get("Content-Type")?.includes("json");
    const json = isJson ? await response.json() : null;
    return { ok: response.ok && json !== null, status: response.status, json };
  } catch {
    return { ok: false, status: 0, json: null };
  }
}

// Logging in again, in another window, changes the form's token: the page itself has the new one.
export async function renewCredentials(form) {
  const token = form.elements.csrfmiddlewaretoken;
  if (!token) return false;
  try {
    const response = await fetch(location.pathname, { headers: { Accept: "text/html" } });
    if (!response.ok || response.redirected) return false;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("#answers [name=csrfmiddlewaretoken]");
    if (!fresh) return false;
    token.value = fresh.value;
    return true;
  } catch {
    return false;
  }
}
