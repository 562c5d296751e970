// Unpacks the data, then starts the parts.

const THEMES = ["system", "light", "dark"];

async function unpack() {
  const packed = Uint8Array.from(atob(byId("data").textContent.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function setTheme(theme) {
  byId("theme").textContent = `Theme: ${theme}`;
  document.documentElement.dataset.theme = theme;
}

function openTheme() {
  setTheme("system");
  byId("theme").addEventListener("click", () => {
    setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
    redrawCharts();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);
}

function openCopyButtons() {
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const setting = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(setting.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(setting); // to be copied by hand
      }
    });
  }
}

function showClosestCalls({ names = "", resemblance = "0 0.99999" } = {}) {
  byId("search").value = byId("stage").value = byId("host").value = "";
  byId("names").value = names;
  byId("resemblance").value = resemblance;
  byId("order").value = "resemblance";
  browser.filter();
  byId("browser").scrollIntoView();
}

async function start() {
  openTheme();
  openCopyButtons();
  const data = await unpack();
  drawFunnel(data.summary);
  drawTimes(data.times);
  drawStages(data.summary.pages.duplicates);
  drawHosts(data.summary.hosts);
  drawResemblances(data.resemblances, data.thresholds.resemblance);
  drawDistances(data.distances, data.groups.distances, data.thresholds.distance);
  drawSizes(data.group_sizes, data.summary.pages.unique);
  browser.open(data.groups, data.sites);
  byId("closest")?.addEventListener("click", () => showClosestCalls());
  byId("other-names")?.addEventListener("click", () => showClosestCalls({ names: "other", resemblance: "0 1" }));
  document.documentElement.dataset.ready = "yes";
}

start();
