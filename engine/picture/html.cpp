// Pictures as pages of HTML: the SVG, and a script that enlarges and moves it and says what is pointed at.
#include <fmt/format.h>

#include "diag/escape.hpp"
#include "file/replacement.hpp"
#include "wgrun/picture.hpp"

namespace wgrun {
namespace {

constexpr std::string_view page_style = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#111;--edge:#bbb;--mark:#c0142c}
@media(prefers-color-scheme:dark){:root{--paper:#15191f;--ink:#f2f5f8;--edge:#4c525a;--mark:#ff8a9a}}
html,body{margin:0;height:100%;background:var(--paper);color:var(--ink);font:13px system-ui,sans-serif}
body{display:flex;flex-direction:column}
#view{flex:1;min-height:0;overflow:hidden;cursor:grab;touch-action:none}
#view.moving{cursor:grabbing}
#view svg{width:100%;height:100%;display:block}
#bar{display:flex;gap:8px;align-items:center;padding:6px 10px;border-top:1px solid var(--edge)}
#bar button{font:inherit;min-width:28px;padding:2px 8px;color:inherit;background:none;border:1px solid var(--edge);border-radius:4px}
#tip{flex:1;font:13px monospace;min-height:2.6em;display:flex;align-items:center}
#view .F,#view .f,#view .a{vector-effect:non-scaling-stroke;pointer-events:none}
#view .on rect{stroke:var(--mark);stroke-width:3;vector-effect:non-scaling-stroke}
#view .detail text{pointer-events:none}
#view :is(.t,.n,.r,.x,.l,.k,.al,.ar){font-size:var(--label)}
)";

constexpr std::string_view script = R"JS(
'use strict';
const view = document.getElementById('view'), svg = view.querySelector('svg'), tip = document.getElementById('tip');
const ns = 'http://www.w3.org/2000/svg', idle = tip.textContent;
const [, , W, H] = svg.getAttribute('viewBox').split(' ').map(Number);
svg.removeAttribute('width'); svg.removeAttribute('height');
let box = { x: 0, y: 0, w: W, h: H }, linked = new Map();

// The titles become data, since the browser would show them as well.
for (const cell of svg.querySelectorAll('.cells > g')) {
  const title = cell.querySelector('title');
  cell.tip = title.textContent;
  title.remove();
  for (const word of (cell.dataset.k || '').split(' '))
    if (word) linked.set(word, [...(linked.get(word) || []), cell]);
}

// Overviews, and the elements that their cells stand for.
const overviews = [...svg.querySelectorAll('.grid')].map((grid, i) => {
  const data = details[i];
  if (!data) return null;
  const cells = [...grid.querySelectorAll('.cells > g')];
  return { data, cells, rows: data.rows / (cells.length / data.across), columns: data.columns / data.across };
}).filter(Boolean);

function element(name, attributes, text) {
  const made = document.createElementNS(ns, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}

function showDetail() {
  const scale = svg.getScreenCTM().a;
  svg.style.setProperty('--label', Math.min(11, 24 / scale) + 'px');
  for (const { data, cells, rows, columns } of overviews) cells.forEach((cell, i) => {
    const rect = cell.querySelector('rect');
    const [x, y, w, h] = ['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)));
    const inside = x < box.x + box.w && x + w > box.x && y < box.y + box.h && y + h > box.y;
    const wanted = inside && h / rows * scale >= 9 && w / columns * scale >= 9;
    if (!!cell.detail === wanted) return;
    for (const text of cell.querySelectorAll(':scope > text')) text.style.display = wanted ? 'none' : '';
    if (!wanted) { cell.detail.remove(); cell.detail = null; return; }
    cell.detail = element('g', { class: 'detail' });
    const cw = w / columns, ch = h / rows;
    const top = Math.floor(i / data.across) * rows, left = i % data.across * columns;
    for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) {
      const at = (top + r) * data.columns + left + c, label = data.text[at], g = element('g', {});
      const size = Math.min(ch * .6, cw / (label.length * .62 + .6));
      g.tip = data.tip[at];
      g.append(element('rect', { class: data.colour[at] < 0 ? 'w' : 'c' + data.colour[at], x: x + c * cw, y: y + r * ch,
                                 width: cw, height: ch, style: 'stroke-width:' + ch / 30 }));
      g.append(element('text', { x: x + (c + .5) * cw, y: y + (r + .5) * ch + size * .35, style: 'font-size:' + size + 'px' }, label));
      cell.detail.append(g);
    }
    cell.append(cell.detail);
  });
}

function show() {
  svg.setAttribute('viewBox', `${box.x} ${box.y} ${box.w} ${box.h}`);
  showDetail();
}
function place(event) {
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [p.x, p.y];
}
function zoom(factor, x = box.x + box.w / 2, y = box.y + box.h / 2) {
  const f = Math.min(Math.max(factor, W / 200 / box.w), 2 * W / box.w);
  box = { x: x + (box.x - x) * f, y: y + (box.y - y) * f, w: box.w * f, h: box.h * f };
  show();
}
function fit() { box = { x: 0, y: 0, w: W, h: H }; show(); }

function point(target) {
  for (const cell of svg.querySelectorAll('.on')) cell.classList.remove('on');
  let cell = target;
  while (cell && cell !== view && cell.tip === undefined) cell = cell.parentNode;
  if (!cell || cell.tip === undefined) { tip.textContent = idle; return; }
  tip.textContent = cell.tip;
  cell.classList.add('on');
  for (const word of (cell.dataset.k || '').split(' ')) for (const other of linked.get(word) || []) other.classList.add('on');
}

let held = null;
view.addEventListener('wheel', event => { event.preventDefault(); zoom(Math.exp(event.deltaY / 400), ...place(event)); }, { passive: false });
view.addEventListener('pointerdown', event => { held = place(event); view.classList.add('moving'); view.setPointerCapture(event.pointerId); });
view.addEventListener('pointerup', () => { held = null; view.classList.remove('moving'); });
view.addEventListener('pointermove', event => {
  if (!held) { point(event.target); return; }
  const [x, y] = place(event);
  box.x += held[0] - x; box.y += held[1] - y;
  show();
});
view.addEventListener('pointerleave', () => point(null));
view.addEventListener('dblclick', event => zoom(.4, ...place(event)));
document.addEventListener('keydown', event => {
  const step = { '+': () => zoom(.7), '=': () => zoom(.7), '-': () => zoom(1.4), '0': fit }[event.key];
  if (step) step();
});
document.getElementById('in').addEventListener('click', () => zoom(.6));
document.getElementById('out').addEventListener('click', () => zoom(1 / .6));
document.getElementById('fit').addEventListener('click', fit);
window.addEventListener('resize', showDetail);
show();
)JS";

std::string details_of(const Picture& picture) {
    std::string out = "const details = [";
    for (const Grid& grid : picture) {
        if (!grid.detail) {
            out += "null,";
            continue;
        }
        std::string text, tips, colours;
        for (const Grid::Cell& cell : grid.detail->cells) {
            text += escape::script_string(cell.text) + ',';
            tips += escape::script_string(cell.tip) + ',';
            colours += fmt::format("{},", cell.colour);
        }
        out += fmt::format("\n{{rows:{},columns:{},across:{},\ntext:[{}],\ntip:[{}],\ncolour:[{}]}},",
                           grid.detail->rows, grid.detail->columns, grid.columns, text, tips, colours);
    }
    return out + "];";
}

}  // namespace

std::string to_html(const Picture& picture) {
    const std::string title = picture.empty() ? "" : escape::xml(picture.front().title);
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta name=\"viewport\" "
        "content=\"width=device-width\"/>\n<title>{}</title>\n<style>{}</style></head>\n"
        "<body>\n<div id=\"view\">\n{}</div>\n"
        "<div id=\"bar\"><button id=\"in\" title=\"enlarge (+)\">+</button>"
        "<button id=\"out\" title=\"reduce (-)\">&#8722;</button>"
        "<button id=\"fit\" title=\"all of it (0)\">fit</button>"
        "<div id=\"tip\">Point at a cell; the wheel enlarges, dragging moves.</div></div>\n"
        "<script>\n{}\n{}</script>\n</body></html>\n",
        title, page_style, to_svg(picture), details_of(picture), script);
}

void save_html(const Picture& picture, const std::string& path) { file::replace(path, to_html(picture)); }

}  // namespace wgrun
