# The page that `wgrun layout --html` prints, in a browser: zoom, pan, hover and the elements of overviews. The events are
# made by a script that is added to the page; what it finds becomes the page's title.
browser=
for name in chromium chromium-browser google-chrome; do
    if command -v $name >/dev/null; then browser=$name; fi
done
[ -n "$browser" ] || { echo "skipped: no chromium"; exit 77; }

cat >events.js <<'JS'
const faults = [];
const expect = (good, what) => { if (!good) faults.push(what); };
const near = (a, b) => Math.abs(a - b) < 1e-3 * (1 + Math.abs(b)); // the browser reckons in floats
const viewBox = () => svg.getAttribute('viewBox').split(' ').map(Number);
const middle = cell => {
  const r = cell.querySelector('rect').getBoundingClientRect();
  return [Math.round(r.x + r.width / 2), Math.round(r.y + r.height / 2)]; // wheel events have whole pixels
};
const fire = (target, type, x, y, more) => target.dispatchEvent(new (type === 'wheel' ? WheelEvent : PointerEvent)(type,
  { bubbles: true, cancelable: true, clientX: x, clientY: y, pointerId: 1, ...more }));
const key = name => document.dispatchEvent(new KeyboardEvent('keydown', { key: name }));
const user = (x, y) => { const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse()); return [p.x, p.y]; };
try {
  view.setPointerCapture = () => {}; // of a pointer that is there
  const cells = [...svg.querySelectorAll('.cells > g')];
  const all = viewBox();
  expect(cells.length === EXPECTED_CELLS, 'cells: ' + cells.length);
  expect(all[0] === 0 && all[1] === 0 && all[2] === W && all[3] === H, 'the whole picture at first');

  // The wheel: the place that is pointed at stays where it is.
  const [x, y] = middle(cells[1]);
  const before = user(x, y);
  fire(cells[1], 'wheel', x, y, { deltaY: -300 });
  const closer = viewBox(), after = user(x, y);
  expect(closer[2] < all[2] && near(closer[2] / closer[3], all[2] / all[3]), 'the wheel enlarges');
  expect(near(before[0], after[0]) && near(before[1], after[1]), 'the wheel keeps the place');
  for (let i = 0; i < 100; ++i) fire(cells[1], 'wheel', x, y, { deltaY: -1000 });
  expect(viewBox()[2] >= W / 200 - 1e-6, 'there is a limit to it');
  for (let i = 0; i < 100; ++i) fire(cells[1], 'wheel', x, y, { deltaY: 1000 });
  expect(viewBox()[2] <= 2 * W + 1e-6, 'and to reducing');

  // Keys and buttons.
  key('0');
  expect(viewBox().every((v, i) => near(v, all[i])), '0 shows all of it');
  key('+');
  expect(viewBox()[2] < W, '+ enlarges');
  key('-');
  document.getElementById('out').click();
  expect(viewBox()[2] > W, 'the button reduces');
  document.getElementById('fit').click();
  expect(viewBox().every((v, i) => near(v, all[i])), 'the button shows all of it');
  key('q');

  // Pointing.
  const spot = document.getElementById('tip'), nobody = spot.textContent;
  const [px, py] = middle(cells[2]);
  fire(cells[2].querySelector('rect'), 'pointermove', px, py);
  expect(spot.textContent === cells[2].tip && spot.textContent !== nobody && spot.textContent !== '', 'the tip is the cell\'s: ' + spot.textContent);
  expect(cells[2].classList.contains('on') && !cells[1].classList.contains('on'), 'the cell is marked');
  expect(svg.querySelectorAll('.cells title').length === 0, 'no titles that would be shown twice');
  fire(view, 'pointerleave', 0, 0);
  expect(spot.textContent === nobody && svg.querySelectorAll('.on').length === 0, 'nothing is marked any more');

  // Dragging.
  fire(view, 'pointerdown', px, py);
  const grabbed = user(px, py);
  fire(view, 'pointermove', px + 40, py + 10);
  const held = user(px + 40, py + 10);
  fire(view, 'pointerup', px + 40, py + 10);
  expect(near(grabbed[0], held[0]) && near(grabbed[1], held[1]), 'what is held follows the pointer');
  expect(viewBox()[0] < 0, 'it has moved');
  key('0');

  // The elements of an overview, where there is room for them.
  if (OVERVIEW) {
    const [ox, oy] = middle(cells[0]);
    expect(svg.querySelectorAll('.detail').length === 0, 'no elements at first');
    for (let i = 0; i < 8; ++i) fire(cells[0], 'wheel', ox, oy, { deltaY: -400 });
    const shown = svg.querySelectorAll('.detail');
    expect(shown.length > 0 && shown.length < cells.length, 'elements of the cells in view: ' + shown.length);
    const elements = shown[0].querySelectorAll('g');
    expect(elements.length === OVERVIEW, 'elements of a cell: ' + elements.length);
    fire(elements[1].querySelector('rect'), 'pointermove', ox, oy);
    expect(spot.textContent === elements[1].tip && elements[1].tip.includes('offset'), 'an element has a tip: ' + spot.textContent);
    key('0');
    expect(svg.querySelectorAll('.detail').length === 0, 'they go when there is no room');
  }
} catch (error) {
  faults.push(String(error));
}
document.title = faults.length === 0 ? 'all good' : faults.join('; ');
JS

# in_browser FILE CELLS OVERVIEW: the page with the events
in_browser() {
    sed "s/EXPECTED_CELLS/$2/; s/OVERVIEW/$3/g" events.js >of_page.js
    awk 'FNR == NR { js = js $0 "\n"; next } { sub(/<\/script>\n?<\/body>/, ""); at = index($0, "</script>")
         if (at) print substr($0, 1, at - 1) js substr($0, at); else print }' of_page.js "$1" >tested.html
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --window-size=900,700 --virtual-time-budget=2000 \
        --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/tested.html" >dom.txt 2>browser.txt ||
        { echo "skipped: $browser does not run here: $(tail -n 1 browser.txt)"; exit 77; }
    grep -q '<title>all good</title>' dom.txt || bad "$1: $(sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' dom.txt)"
}

run layout '(8,8):(8,1)' --html page.html
exits 0
in_browser page.html 64 0
run layout '(128,128):(128,1)' --html large.html
exits 0
in_browser large.html 256 64
