// The charts, drawn by Chart.js. Colours are the style sheet's, read anew when the theme changes.

const charts = [];

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

function colour(name) {
  const probe = element("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** Draw a chart, described in words too, or say why there is none. */
function draw(id, description, make) {
  const place = byId(id);
  if (!make) {
    place.replaceChildren(element("p", { className: "empty" }, description));
    return;
  }
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", description);
  place.replaceChildren(canvas);
  charts.push({ canvas, make, chart: new Chart(canvas, make()) });
}

function redrawCharts() {
  for (const entry of charts) {
    entry.chart.destroy();
    entry.chart = new Chart(entry.canvas, entry.make());
  }
}

function bars(labels, datasets, { horizontal = false, stacked = false, x = {}, y = {}, plugins = {}, extras = [] } = {}) {
  const grid = { color: colour("line"), drawTicks: false };
  const none = { display: false };
  const ticks = { color: colour("soft"), precision: 0 };
  const scales = {
    x: { stacked, grid: horizontal ? grid : none, border: none, ticks, ...x },
    y: { stacked, grid: horizontal ? none : grid, border: none, ticks, ...y },
  };
  return {
    type: "bar",
    data: { labels, datasets: datasets.map((set) => ({ maxBarThickness: 34, borderRadius: 2, minBarLength: 2, ...set })) },
    options: {
      indexAxis: horizontal ? "y" : "x",
      maintainAspectRatio: false,
      animation: false,
      scales,
      plugins: { legend: legend(datasets.length > 1), ...plugins },
    },
    plugins: extras,
  };
}

function legend(display) {
  return { display, position: "bottom", labels: { color: colour("ink"), boxWidth: 10, boxHeight: 10 } };
}

/** Write each bar's value behind it. */
function barValues(text) {
  return {
    id: "values",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      ctx.save();
      ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      ctx.textBaseline = "middle";
      chart.getDatasetMeta(0).data.forEach((bar, index) => {
        const label = text(index);
        const fits = bar.x + 8 + ctx.measureText(label).width < chartArea.right;
        ctx.textAlign = fits ? "left" : "right";
        ctx.fillStyle = fits ? colour("ink") : colour("card");
        ctx.fillText(label, fits ? bar.x + 6 : bar.x - 8, bar.y);
      });
      ctx.restore();
    },
  };
}

/** Draw a line at a threshold, before the bar of this index (or behind it). */
function thresholdLine(index, label, { after = false } = {}) {
  return {
    id: "threshold",
    afterDatasetsDraw({ ctx, chartArea, scales }) {
      const half = (scales.x.getPixelForValue(1) - scales.x.getPixelForValue(0)) / 2 || 0;
      const place = scales.x.getPixelForValue(index) + (after ? half : -half);
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour("bad");
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(place, chartArea.top);
      ctx.lineTo(place, chartArea.bottom);
      ctx.stroke();
      ctx.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      const isRight = place > (chartArea.left + chartArea.right) / 2;
      ctx.textAlign = isRight ? "right" : "left";
      ctx.fillText(label, place + (isRight ? -5 : 5), chartArea.top + 8);
      ctx.restore();
    },
  };
}

function drawFunnel({ pages, urls }) {
  const skipped = sum(Object.values(pages.skipped));
  const links = [["Links found", urls.seen + urls.filtered], ["Different URLs", urls.seen]];
  const steps = [
    ...(urls.seen ? links : []), // none where the pages came from elsewhere
    ["Pages fetched", pages.fetched],
    ["Compared", pages.fetched - skipped - pages.waiting],
    ["Kept", pages.unique],
  ];
  const values = steps.map(([, value]) => value);
  const text = (index) => {
    const whole = values[index - 1];
    const share = index && whole ? ` (${((100 * values[index]) / whole).toFixed(0)}%)` : "";
    return number(values[index]) + share;
  };
  const description = steps.map(([name, value]) => `${name}: ${number(value)}`).join(", ");
  draw("funnel", description, () =>
    bars(steps.map(([name]) => name), [{ data: values, backgroundColor: colour("kept"), maxBarThickness: 30 }], {
      horizontal: true,
      x: { display: false },
      y: { ticks: { color: colour("ink") }, grid: { display: false }, border: { display: false } },
      plugins: { tooltip: { enabled: false } },
      extras: [barValues(text)],
    }),
  );
}

function drawTimes(times) {
  if (times.fetched.length < 2) return draw("times", "All pages were fetched at the same time.");
  const labels = times.fetched.map((_, place) => duration((place + 1) * times.step, times.step));
  const line = (values, name, label) => ({
    data: runningSum(values), label, borderColor: colour(name), backgroundColor: colour(name), pointRadius: 0, borderWidth: 2,
  });
  draw("times", `Pages fetched over ${labels.at(-1)}`, () => ({
    type: "line",
    data: {
      labels,
      datasets: [
        line(times.fetched, "skipped", "Fetched"),
        line(times.unique, "kept", "Kept"),
        line(times.duplicates, "dropped", "Duplicates"),
      ],
    },
    options: {
      maintainAspectRatio: false,
      animation: false,
      interaction: { mode: "index", intersect: false },
      scales: {
        x: { grid: { display: false }, border: { display: false }, ticks: { color: colour("soft"), maxTicksLimit: 6, maxRotation: 0 } },
        y: { beginAtZero: true, grid: { color: colour("line"), drawTicks: false }, border: { display: false }, ticks: { color: colour("soft"), precision: 0 } },
      },
      plugins: { legend: legend(true) },
    },
  }));
}

function drawStages(stages) {
  const entries = Object.entries(stages).sort((a, b) => b[1] - a[1]);
  if (!entries.length) return draw("stages", "No pages were dropped.");
  draw("stages", entries.map(([name, count]) => `${name}: ${number(count)}`).join(", "), () =>
    bars(entries.map(([name]) => name), [{ data: entries.map(([, count]) => count), backgroundColor: colour("dropped") }], {
      horizontal: true,
      x: { display: false },
      y: { ticks: { color: colour("ink") }, grid: { display: false }, border: { display: false } },
      plugins: { tooltip: { enabled: false } },
      extras: [barValues((index) => number(entries[index][1]))],
    }),
  );
}

function drawHosts(hosts) {
  const shown = hosts.slice(0, 8);
  if (!shown.length) return draw("hosts", "No pages were fetched.");
  if (hosts.length > shown.length) byId("hosts-note").textContent = `the ${shown.length} with the most pages`;
  const part = (key, name, label) => ({ label, data: shown.map((row) => row[key]), backgroundColor: colour(name) });
  const labels = shown.map((row) => (row.host.length > 24 ? `${row.host.slice(0, 22)}…` : row.host || "(none)"));
  const description = shown.map((row) => `${row.host}: ${row.unique} kept, ${row.duplicates} duplicates`).join("; ");
  draw("hosts", description, () =>
    bars(labels, [part("unique", "kept", "Kept"), part("duplicates", "dropped", "Duplicates"), part("skipped", "skipped", "Skipped")], {
      horizontal: true,
      stacked: true,
    }),
  );
}

function drawResemblances(counts, threshold) {
  const steps = counts.length - 1;
  const first = Math.min(counts.findIndex(Boolean), Math.round((threshold ?? 1) * steps));
  if (!counts.some(Boolean)) return draw("resemblances", "No texts were compared.");
  const start = Math.max(first - 2, 0);
  const values = counts.slice(start);
  const labels = values.map((_, place) => (place + start === steps ? "1" : ((place + start) / steps).toFixed(2)));
  const extras = threshold ? [thresholdLine(threshold * steps - start, `threshold ${threshold}`)] : [];
  draw("resemblances", `Duplicates by resemblance: ${values.map((count, place) => `${labels[place]}: ${count}`).join(", ")}`, () =>
    bars(labels, [{ data: values, backgroundColor: colour("dropped"), categoryPercentage: 0.95 }], {
      x: { grid: { display: false }, border: { display: false }, ticks: { color: colour("soft"), maxRotation: 0, autoSkip: true } },
      y: { type: "logarithmic", min: 0.5, grid: { color: colour("line"), drawTicks: false }, border: { display: false }, ticks: decades() },
      extras,
    }),
  );
}

/** Ticks of a logarithmic axis: powers of ten only. */
function decades() {
  const isPower = (value) => Number.isInteger(Math.log10(value));
  return { color: colour("soft"), callback: (value) => (isPower(value) ? number(value) : null) };
}

/** `found`: duplicates of stage simhash by bits; `others`: pairs of other stages, as far as compared. */
function drawDistances(found, others, threshold) {
  const last = Math.max(threshold ?? 0, ...Object.keys(found).map(Number), ...Object.keys(others).map(Number));
  const compared = sum(Object.values(others));
  if (!compared && !Object.keys(found).length) return draw("distances", "No near duplicate has a fingerprint.");
  if (compared) byId("distances-note").textContent = `${plural(compared, "pair")} from other stages, computed here`;
  const labels = Array.from({ length: last + 2 }, (_, bits) => String(bits));
  const part = (counts, label, name) => ({
    label, data: labels.map((bits) => counts[bits] ?? 0), backgroundColor: colour(name), minBarLength: 0, categoryPercentage: 0.95,
  });
  const extras = Number.isInteger(threshold) ? [thresholdLine(threshold, `at most ${plural(threshold, "bit")}`, { after: true })] : [];
  const description = labels.map((bits) => `${bits} bits: ${(found[bits] ?? 0) + (others[bits] ?? 0)}`).join(", ");
  draw("distances", `Near duplicates by distance: ${description}`, () =>
    bars(labels, [part(found, "Found by simhash", "dropped"), part(others, "By another stage", "skipped")], {
      stacked: true,
      x: { title: { display: true, text: "bits", color: colour("soft") }, grid: { display: false }, border: { display: false }, ticks: { color: colour("soft"), maxRotation: 0 } },
      extras,
    }),
  );
}

const SIZES = [[2, 2], [3, 3], [4, 4], [5, 5], [6, 10], [11, 20], [21, 50], [51, 100], [101, 1000], [1001, Infinity]];

function drawSizes(sizes, unique) {
  const entries = Object.entries(sizes).map(([copies, count]) => [Number(copies) + 1, count]);
  if (!entries.length) return draw("sizes", `None of the ${plural(unique, "page")} has a copy.`);
  const counted = SIZES.map(([low, high]) => sum(entries.filter(([size]) => size >= low && size <= high).map(([, count]) => count)));
  const end = counted.findLastIndex(Boolean) + 1;
  const labels = SIZES.slice(0, end).map(([low, high]) => (low === high ? `${low}` : high === Infinity ? `> ${number(low - 1)}` : `${low}–${number(high)}`));
  const values = counted.slice(0, end);
  draw("sizes", `Pages by number of copies: ${values.map((count, place) => `${labels[place]}: ${count}`).join(", ")}`, () =>
    bars(labels, [{ data: values, backgroundColor: colour("kept") }], {
      x: { title: { display: true, text: "copies", color: colour("soft") }, grid: { display: false }, border: { display: false }, ticks: { color: colour("soft"), maxRotation: 0 } },
      y: { type: "logarithmic", min: 0.5, grid: { color: colour("line"), drawTicks: false }, border: { display: false }, ticks: decades() },
    }),
  );
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function runningSum(values) {
  let total = 0;
  return values.map((value) => (total += value));
}

function duration(seconds, step) {
  if (seconds < 120) return `${seconds.toFixed(step < 0.2 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
