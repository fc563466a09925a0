#include "bindings/repl/editor.hpp"

#ifdef WGRUN_HAS_LIBEDIT

#include <histedit.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "bindings/repl/screen.hpp"

namespace wgrun::repl {
namespace {

// Keys that no keyboard has: by pushing them, a function of this file makes libedit run one of its own
// functions.
constexpr const wchar_t* accept_key = L"\x1b[9001~";
constexpr const wchar_t* line_up_key = L"\x1b[9002~";
constexpr const wchar_t* line_down_key = L"\x1b[9003~";

volatile std::sig_atomic_t resized = 0;
volatile std::sig_atomic_t continued = 0;

void note_signal(int signal) { (signal == SIGWINCH ? resized : continued) = 1; }

// Handles SIGWINCH and SIGCONT while a line is read.
class Signals {
  public:
    Signals() {
        struct sigaction action {};
        action.sa_handler = note_signal;  // without SA_RESTART: the wait for a key ends
        sigemptyset(&action.sa_mask);
        sigaction(SIGWINCH, &action, &window_);
        sigaction(SIGCONT, &action, &continue_);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() {
        sigaction(SIGWINCH, &window_, nullptr);
        sigaction(SIGCONT, &continue_, nullptr);
    }

  private:
    struct sigaction window_ {};
    struct sigaction continue_ {};
};

// libedit uses UTF-32, text elsewhere is UTF-8. Invalid UTF-8 becomes U+FFFD.
std::wstring wide(std::string_view text) {
    std::wstring out;
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t size = first < 0x80   ? 1
                                 : first < 0xC0 ? 0
                                 : first < 0xE0 ? 2
                                 : first < 0xF0 ? 3
                                                : 4;
        bool good = size > 0 && first < 0xF8 && at + size <= text.size();
        wchar_t value = size == 1 ? first : first & (0x7F >> size);
        for (std::size_t i = 1; good && i < size; ++i) {
            good = (text[at + i] & 0xC0) == 0x80;
            value = value << 6 | (text[at + i] & 0x3F);
        }
        out += good ? value : L'\xFFFD';
        at += good ? size : 1;
    }
    return out;
}

std::string narrow(const wchar_t* begin, const wchar_t* end) {
    std::string out;
    for (; begin < end; ++begin) {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): wchar_t is no char
        const auto c = static_cast<std::uint32_t>(*begin);
        const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
        if (c < 0x80) {
            out += static_cast<char>(c);
        } else if (c < 0x800) {
            out += static_cast<char>(0xC0 | c >> 6);
            tail(0);
        } else if (c < 0x10000) {
            out += static_cast<char>(0xE0 | c >> 12);
            tail(6);
            tail(0);
        } else {
            out += static_cast<char>(0xF0 | c >> 18);
            tail(12);
            tail(6);
            tail(0);
        }
    }
    return out;
}

class LineEditor final : public Editor {
  public:
    LineEditor(History& history, bool colour);
    ~LineEditor() override {
        el_end(el_);
        history_wend(search_);
    }

    bool good() const { return el_ != nullptr && search_ != nullptr; }
    Console::Input read(std::string_view prompt, Assistant& assistant, std::string& line) override;
    void put_back(std::string_view keys) override { waiting_ += keys; }
    void ignore_answers() override;

  private:
    using Function = unsigned char (*)(EditLine*, wint_t);

    static LineEditor& of(EditLine* el) {
        void* self = nullptr;
        el_wget(el, EL_CLIENTDATA, &self);
        return *static_cast<LineEditor*>(self);
    }
    // A function for keys that calls a member.
    template <unsigned char (LineEditor::*member)()>
    static unsigned char call(EditLine* el, int) {
        return (of(el).*member)();
    }
    static wchar_t* prompt_of(EditLine* el) { return of(el).prompt_.data(); }
    static int next_character(EditLine* el, wchar_t* c) { return of(el).read_character(*c); }

    template <unsigned char (LineEditor::*member)()>
    void define(const wchar_t* name, std::initializer_list<const wchar_t*> keys) {
        el_wset(el_, EL_ADDFN, name, L"", call<member>);
        for (const wchar_t* key : keys) bind(key, name);
    }
    void bind(const wchar_t* key, const wchar_t* name) { el_wset(el_, EL_BIND, key, name, nullptr); }

    std::string text() const {
        const LineInfoW* line = el_wline(el_);
        return narrow(line->buffer, line->lastchar);
    }
    std::size_t cursor() const {
        const LineInfoW* line = el_wline(el_);
        return narrow(line->buffer, line->cursor).size();
    }
    void insert(std::string_view text) { el_winsertstr(el_, wide(text).c_str()); }
    void replace(std::string_view text);

    int read_byte(unsigned char& byte);
    int read_character(wchar_t& c);
    void paint();
    void redraw(bool from_above);
    void leave_text();
    void close_line();
    void begin_line();

    unsigned char enter();
    unsigned char new_line();
    unsigned char tab();
    unsigned char up();
    unsigned char down();
    unsigned char paste();
    unsigned char answered_sequence();
    unsigned char answered_string();
    unsigned char recall(int step);

    History& history_;
    bool colour_;
    EditLine* el_ = nullptr;
    HistoryW* search_ = nullptr;  ///< the same entries, for Ctrl-R
    std::wstring prompt_;
    Assistant* assistant_ = nullptr;
    bool interrupted_ = false;
    std::string waiting_;  ///< is read before further input
    int rows_ = 24, columns_ = 80;

    // The position in the history: how far back, the common beginning of the entries, what was typed before,
    // and what replaced it.
    std::size_t back_ = 0;
    std::string beginning_, typed_, recalled_;
};

LineEditor::LineEditor(History& history, bool colour) : history_(history), colour_(colour) {
    el_ = el_init("wgrun", stdin, stdout, stderr);
    search_ = history_winit();
    if (!good()) return;
    HistEventW event;
    history_w(search_, &event, H_SETSIZE, 1 << 20);
    for (const std::string& entry : history_.entries())
        history_w(search_, &event, H_ENTER, wide(entry).c_str());
    el_wset(el_, EL_CLIENTDATA, this);
    el_wset(el_, EL_PROMPT, prompt_of);
    el_wset(el_, EL_EDITOR, L"emacs");
    el_wset(el_, EL_SIGNAL, 0);
    el_wset(el_, EL_HIST, history_w, search_);
    el_wset(el_, EL_GETCFN, next_character);
    define<&LineEditor::enter>(L"wgrun-enter", {L"\r", L"\n"});
    define<&LineEditor::new_line>(L"wgrun-new-line", {L"\x1b\r", L"\x1b\n"});
    define<&LineEditor::tab>(L"wgrun-complete", {L"\t"});
    define<&LineEditor::up>(L"wgrun-up", {L"\x1b[A", L"\x1bOA", L"^P"});
    define<&LineEditor::down>(L"wgrun-down", {L"\x1b[B", L"\x1bOB", L"^N"});
    define<&LineEditor::paste>(L"wgrun-paste", {L"\x1b[200~"});
    bind(accept_key, L"ed-newline");
    bind(line_up_key, L"ed-prev-line");
    bind(line_down_key, L"ed-next-line");
    bind(L"^R", L"em-inc-search-prev");
    bind(L"\x1b[3~", L"ed-delete-next-char");
    for (const wchar_t* key : {L"\x1b[H", L"\x1bOH", L"\x1b[1~"}) bind(key, L"ed-move-to-beg");
    for (const wchar_t* key : {L"\x1b[F", L"\x1bOF", L"\x1b[4~"}) bind(key, L"ed-move-to-end");
    for (const wchar_t* key : {L"\x1b[1;5D", L"\x1b[1;3D"}) bind(key, L"ed-prev-word");
    for (const wchar_t* key : {L"\x1b[1;5C", L"\x1b[1;3C"}) bind(key, L"em-next-word");
    el_source(el_, nullptr);
}

// Returns 1, or ends the line: -1 for a signal, 0 at the end of input.
int LineEditor::read_byte(unsigned char& byte) {
    if (!waiting_.empty()) {
        byte = static_cast<unsigned char>(waiting_.front());
        waiting_.erase(0, 1);
        return 1;
    }
    for (;;) {
        if (wait_for_input()) return static_cast<int>(::read(STDIN_FILENO, &byte, 1));
        if (std::exchange(resized, 0) != 0)
            redraw(true);
        else if (std::exchange(continued, 0) != 0)
            redraw(false);
        else
            return interrupted_ = true, -1;
    }
}

int LineEditor::read_character(wchar_t& c) {
    paint();
    std::string bytes(1, '\0');
    const auto next = [&](char& to) {
        unsigned char byte = 0;
        const int status = read_byte(byte);
        to = static_cast<char>(byte);
        return status;
    };
    if (const int status = next(bytes[0]); status != 1) return status;
    const auto first = static_cast<unsigned char>(bytes[0]);
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    for (int i = 0; i < more; ++i) {
        bytes += '\0';
        if (const int status = next(bytes.back()); status != 1) return status;
    }
    c = wide(bytes)[0];
    return 1;
}

// Not while more input is available, as in a paste.
void LineEditor::paint() {
    int waiting = 0;
    if (!colour_ || !waiting_.empty() || (ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0))
        return;
    const std::string out = painted(text(), cursor(), static_cast<int>(prompt_.size()), columns_, rows_);
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
}

// Redraws prompt and text: from where they begin, or below what a shell has written.
void LineEditor::redraw(bool from_above) {
    struct winsize size {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns_ = size.ws_col, rows_ = size.ws_row;
    if (from_above) {
        const auto place = place_of(text(), cursor(), static_cast<int>(prompt_.size()), columns_);
        if (place && place->row > 0) std::printf("\x1b[%dA", place->row);
        std::printf("\r\x1b[J");
        el_resize(el_);
    } else {
        el_wset(el_, EL_PREP_TERM, 0);
        el_wset(el_, EL_PREP_TERM, 1);
        std::printf("\r\x1b[J\x1b[?2004h");
    }
    el_wset(el_, EL_REFRESH);
    paint();
}

// To the first column. Where something stands in front of the cursor, output without a newline or keys typed
// ahead, that keeps its line, with a mark: the mark and a row of spaces wrap around only then.
void LineEditor::begin_line() {
    el_wset(el_, EL_PREP_TERM, 1);  // no echo of keys from here on
    std::fputs("\x1b[7m%\x1b[27m", stdout);
    for (int i = 1; i < columns_; ++i) std::putc(' ', stdout);
    std::fputs("\r \r\x1b[?2004h", stdout);
}

// Moves the cursor to the line below the text.
void LineEditor::leave_text() {
    const int prompt = static_cast<int>(prompt_.size());
    const std::string all = text();
    const auto here = place_of(all, cursor(), prompt, columns_);
    const auto last = place_of(all, all.size(), prompt, columns_);
    if (here && last)
        for (int row = here->row; row < last->row; ++row) std::putc('\n', stdout);
    std::fputs("\r\n", stdout);
}

void LineEditor::replace(std::string_view text) {
    const LineInfoW* line = el_wline(el_);
    const auto all = static_cast<int>(line->lastchar - line->buffer);
    el_cursor(el_, static_cast<int>(line->lastchar - line->cursor));
    el_wdeletestr(el_, all);
    insert(text);
}

unsigned char LineEditor::enter() {
    close_line();
    if (assistant_->unfinished(text())) return new_line();
    el_wpush(el_, accept_key);
    return CC_REFRESH;
}

unsigned char LineEditor::new_line() {
    close_line();
    std::string line = indentation(text().substr(0, cursor()));
    line.insert(line.begin(), '\n');
    insert(line);
    return CC_REFRESH;
}

// Moves `end`, just typed, below what it ends.
void LineEditor::close_line() {
    const std::string before = text();
    const std::size_t at = cursor();
    const std::string after = closed_line(before, at);
    if (after == before) return;
    replace(after);
    el_cursor(el_, -static_cast<int>(wide(before.substr(at)).size()));
}

unsigned char LineEditor::tab() {
    const std::string all = text();
    const std::size_t at = cursor();
    // At the beginning of a line there is nothing to complete: indents.
    const std::size_t line = at == 0 ? std::string::npos : all.find_last_of('\n', at - 1);
    if (all.substr(line + 1, at - line - 1).find_first_not_of(' ') == std::string::npos) {
        insert("  ");
        return CC_REFRESH;
    }
    const Completion completion = assistant_->complete(all, at);
    const std::string common = common_beginning(completion.candidates);
    const std::size_t typed = at - std::min(at, completion.begin);
    if (completion.candidates.empty()) return CC_ERROR;
    if (common.size() > typed) {
        insert(common.substr(typed));
        return CC_REFRESH;
    }
    if (completion.candidates.size() == 1 && completion.candidates.front().about.empty()) return CC_NORM;
    leave_text();
    const std::string list = listed(completion.candidates, columns_, std::max(4, rows_ - 4));
    std::fwrite(list.data(), 1, list.size(), stdout);
    std::fflush(stdout);
    el_wset(el_, EL_REFRESH);
    return CC_NORM;
}

void LineEditor::ignore_answers() {
    define<&LineEditor::answered_sequence>(L"wgrun-answered-sequence", {L"\x1b[?", L"\x1b[6;"});
    define<&LineEditor::answered_string>(L"wgrun-answered-string", {L"\x1b_G", L"\x1b]11;"});
}

unsigned char LineEditor::answered_sequence() {
    unsigned char byte = 0;
    while (read_byte(byte) == 1 && byte >= ' ' && byte < '@') {
    }
    return interrupted_ ? static_cast<unsigned char>(CC_EOF) : static_cast<unsigned char>(CC_NORM);
}

unsigned char LineEditor::answered_string() {
    unsigned char byte = 0, before = 0;
    while (read_byte(byte) == 1 && byte != '\a' && !(before == '\x1b' && byte == '\\')) before = byte;
    return interrupted_ ? static_cast<unsigned char>(CC_EOF) : static_cast<unsigned char>(CC_NORM);
}

unsigned char LineEditor::recall(int step) {
    const std::string now = text();
    if (back_ == 0 || now != recalled_) {  // typed since, or a new line
        back_ = 0;
        typed_ = now;
        beginning_ = now.substr(0, cursor());
    }
    const std::vector<std::string>& entries = history_.entries();
    for (std::size_t back = back_; step > 0 ? back < entries.size() : back > 0;) {
        back += static_cast<std::size_t>(step);
        const std::string& entry = back == 0 ? typed_ : entries[entries.size() - back];
        if (back > 0 && (!entry.starts_with(beginning_) || entry == now)) continue;
        back_ = back;
        recalled_ = entry;
        replace(entry);
        return CC_REFRESH;
    }
    return CC_ERROR;
}

unsigned char LineEditor::up() {
    if (text().substr(0, cursor()).find('\n') == std::string::npos) return recall(1);
    el_wpush(el_, line_up_key);
    return CC_NORM;
}

unsigned char LineEditor::down() {
    if (text().find('\n', cursor()) == std::string::npos) return recall(-1);
    el_wpush(el_, line_down_key);
    return CC_NORM;
}

// Text that a terminal marks as pasted, up to its end mark; it may hold anything, and none of it is a key.
unsigned char LineEditor::paste() {
    static constexpr std::string_view end = "\x1b[201~";
    std::string pasted;
    unsigned char byte = 0;
    while (!pasted.ends_with(end) && read_byte(byte) == 1) pasted += static_cast<char>(byte);
    if (pasted.ends_with(end)) pasted.erase(pasted.size() - end.size());
    std::string clean;
    for (std::size_t i = 0; i < pasted.size(); ++i) {
        if (pasted[i] == '\r') {
            clean += '\n';
            if (i + 1 < pasted.size() && pasted[i + 1] == '\n') ++i;
        } else if (pasted[i] == '\n' || pasted[i] == '\t' || static_cast<unsigned char>(pasted[i]) >= ' ') {
            clean += pasted[i];
        }
    }
    clean.erase(clean.find_last_not_of('\n') + 1);
    insert(clean);
    return interrupted_ ? static_cast<unsigned char>(CC_EOF) : static_cast<unsigned char>(CC_REFRESH);
}

Console::Input LineEditor::read(std::string_view prompt, Assistant& assistant, std::string& line) {
    prompt_ = wide(prompt);
    assistant_ = &assistant;
    interrupted_ = false;
    back_ = 0;
    const Signals signals;
    struct winsize size {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns_ = size.ws_col, rows_ = size.ws_row;
    el_resize(el_);
    begin_line();
    int count = 0;
    const wchar_t* read = el_wgets(el_, &count);
    if (interrupted_) leave_text();
    std::fputs("\x1b[?2004l", stdout);
    std::fflush(stdout);
    if (interrupted_) {
        el_reset(el_);
        return Console::Input::interrupted;
    }
    if (read == nullptr || count <= 0) return Console::Input::end;
    line = narrow(read, read + count);
    if (line.ends_with('\n')) line.pop_back();
    if (line.find_first_not_of(" \t\n") != std::string::npos) {
        history_.add(line);
        HistEventW event;
        history_w(search_, &event, H_ENTER, wide(line).c_str());
    }
    return Console::Input::line;
}

}  // namespace

std::unique_ptr<Editor> Editor::open(History& history, bool colour) {
    const char* terminal = std::getenv("TERM");
    if (terminal == nullptr || terminal[0] == 0 || std::strcmp(terminal, "dumb") == 0) return nullptr;
    std::setlocale(LC_CTYPE, "");  // for characters beyond ASCII; numbers stay as Lua writes them
    if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
    auto editor = std::make_unique<LineEditor>(history, colour);
    if (!editor->good()) return nullptr;
    return editor;
}

}  // namespace wgrun::repl

#else

namespace wgrun::repl {

std::unique_ptr<Editor> Editor::open(History&, bool) { return nullptr; }

}  // namespace wgrun::repl

#endif
