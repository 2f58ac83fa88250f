// Pictures: the next ones are fetched ahead, one is shown enlarged, a broken one says so.
// A question has as many as its template shows, each in a .stage of its own.

const AHEAD = 3;
const large = document.getElementById("large");
const another = large.querySelector("[data-action=another]");
let enlarged = null;

export function fetchAhead(questions, index) {
  for (const { images } of questions.slice(index, index + AHEAD + 1)) {
    for (const image of images) if (image.loading === "lazy") image.loading = "eager";
  }
}

export function enlarge(question, image) {
  const whole = wholeOf(question);
  if (!whole.includes(image)) return;
  enlarged = image;
  large.querySelector("img, .marked")?.remove();
  large.append(copyOf(image));
  another.hidden = whole.length < 2;
  if (!large.open) large.showModal();
  large.scrollTo((large.scrollWidth - large.clientWidth) / 2, (large.scrollHeight - large.clientHeight) / 2);
}

// With what is drawn on it, where it stands in a .marked.
function copyOf(image) {
  const copy = (image.closest(".marked") ?? image).cloneNode(true);
  const picture = copy.matches("img") ? copy : copy.querySelector("img");
  picture.loading = "eager";
  picture.removeAttribute("id");
  return copy;
}

// The image that has the focus, else the first; then the others, one after the other; then none.
export function enlargeNext(question) {
  const whole = wholeOf(question);
  const focused = whole.find((image) => stageOf(image).contains(document.activeElement));
  const next = large.open ? whole[whole.indexOf(enlarged) + 1] : (focused ?? whole[0]);
  if (next) enlarge(question, next);
  else closeLarge();
}

export function closeLarge() {
  const wasOpen = large.open;
  large.close();
  return wasOpen;
}

export function watchForBroken(questions, onReport) {
  for (const question of questions) {
    for (const image of question.images) watch(image, () => onReport(question));
  }
}

function watch(image, onReport) {
  image.addEventListener("error", () => showBroken(image, onReport));
  image.addEventListener("load", () => showWhole(stageOf(image)));
  if (image.complete && image.naturalWidth === 0 && image.loading !== "lazy") {
    showBroken(image, onReport);
  }
}

const stageOf = (image) => image.closest(".stage");

function wholeOf({ images }) {
  return images.filter(
    (image) => image.offsetParent !== null && !stageOf(image).classList.contains("is-broken"),
  );
}

function showWhole(stage) {
  stage.classList.remove("is-broken");
  stage.querySelector(".notice")?.remove();
}

function showBroken(image, onReport) {
  const stage = stageOf(image);
  showWhole(stage);
  stage.classList.add("is-broken");
  stage.append(document.querySelector("#broken-image").content.cloneNode(true));
  stage.querySelector("[data-action=reload]").addEventListener("click", () => {
    image.src = image.getAttribute("src");
  });
  stage.querySelector("[data-action=report]").addEventListener("click", onReport);
}
