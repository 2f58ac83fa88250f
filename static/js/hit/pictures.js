// Pictures: the next ones are fetched ahead, they are shown enlarged, a broken one says so.
// A question has as many as its template shows, each in a .stage of its own. Stages with the same
// data-together are enlarged together; data-name says which one it is, else the picture's text.

const AHEAD = 3;
const large = document.getElementById("large");
const another = large.querySelector("[data-action=another]");
let place = 0;

export function fetchAhead(questions, index) {
  for (const { images } of questions.slice(index, index + AHEAD + 1)) {
    for (const image of images) if (image.loading === "lazy") image.loading = "eager";
  }
}

export function isLoading({ images }) {
  return images.some((image) => image.offsetParent !== null && !image.complete);
}

export function enlarge(question, image) {
  const views = viewsOf(question);
  const found = views.findIndex((view) => view.includes(image));
  if (found !== -1) show(views, found);
}

// One view after the other; then none. Says whether one is shown.
export function enlargeNext(question) {
  const views = viewsOf(question);
  const next = large.open ? place + 1 : 0;
  if (next < views.length) show(views, next);
  else closeLarge();
  return large.open;
}

export function closeLarge() {
  const wasOpen = large.open;
  large.close();
  return wasOpen;
}

// Pictures that belong together, and where there are no others, then each of them alone.
function viewsOf(question) {
  const whole = wholeOf(question);
  const together = [];
  for (const image of whole) {
    const { together: name } = stageOf(image).dataset;
    const found = name && together.find(([first]) => stageOf(first).dataset.together === name);
    if (found) found.push(image);
    else together.push([image]);
  }
  const [only, ...others] = together;
  return only?.length > 1 && others.length === 0 ? [only, ...whole.map((image) => [image])] : together;
}

function show(views, index) {
  place = index;
  const names = views.length > 1 ? views[index].map(nameOf) : [];
  large.querySelector(".enlarged")?.remove();
  const shown = document.createElement("div");
  shown.className = "enlarged";
  shown.append(...views[index].map((image, at) => figureOf(image, names[at])));
  large.append(shown);
  large.setAttribute("aria-label", `${names.join(" and ") || "The image"}, enlarged`);
  another.hidden = views.length < 2;
  if (!large.open) large.showModal();
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = large;
  if (views[index].length > 1) large.scrollTo(0, 0);
  else large.scrollTo((scrollWidth - clientWidth) / 2, (scrollHeight - clientHeight) / 2);
}

const nameOf = (image) => stageOf(image).dataset.name ?? image.alt;

function figureOf(image, name) {
  const figure = document.createElement("figure");
  figure.append(copyOf(image));
  if (name) {
    const caption = document.createElement("figcaption");
    caption.textContent = name;
    figure.prepend(caption);
  }
  return figure;
}

// With what is drawn on it, where it stands in a .marked.
function copyOf(image) {
  const copy = (image.closest(".marked") ?? image).cloneNode(true);
  const picture = copy.matches("img") ? copy : copy.querySelector("img");
  picture.loading = "eager";
  picture.removeAttribute("id");
  return copy;
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
