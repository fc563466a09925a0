// Loops, branches and jumps of a kernel, of which stdlib/builder/control.lua makes k:loop, k:while_ and
// k:if_.
#include "bindings/lua/args.hpp"
#include "bindings/lua/trace.hpp"

namespace wgrun::lua {
namespace {

const RegBox& condition_argument(lua_State* L, int arg) {
    const RegBox* box = test<RegBox>(L, arg);
    if (box == nullptr) fail_argument(L, arg, "a predicate register");
    require_same_trace(L, trace_argument(L), box->trace);
    Builder& builder = builder_of(L, box->trace);
    const isa::Type type = guarded(L, [&] { return builder.type_of(box->reg); });
    if (type != isa::Type::pred)
        fail(L, [&] {
            return ArgumentError("a condition of the kernel is a predicate, not a register of type " +
                                     std::string(isa::to_string(type)),
                                 "r:ne(0), r:lt(n) and the like give predicates");
        });
    return *test<RegBox>(L, arg);
}

/// The meaning of a text (k:asm) is not emitted, and so cannot branch.
void refuse_blocks_of_meanings(lua_State* L) {
    if (!trace_argument(L)->simulated_only) return;
    fail(L, [] {
        return ArgumentError("`meaning` of k:asm must be straight-line code, without loops and branches",
                             "k:selp(a, b, p); Lua's own loops unroll");
    });
}

int builder_begin_loop(lua_State* L) {
    refuse_blocks_of_meanings(L);
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.begin_loop(); });
    return 0;
}

int builder_loop_condition(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    const RegBox& condition = condition_argument(L, 2);
    if (condition.negated)
        fail(L, [] { return "the condition of a loop cannot be a negated predicate: compute it with setp"; });
    guarded(L, [&] { builder.loop_condition(condition.reg); });
    return 0;
}

int builder_end_loop(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.end_loop(); });
    return 0;
}

int builder_loop_next(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.loop_next(); });
    return 0;
}

template <Leave what>
int builder_leave(lua_State* L) {
    refuse_blocks_of_meanings(L);
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.leave(what); });
    return 0;
}

int builder_begin_if(lua_State* L) {
    refuse_blocks_of_meanings(L);
    Builder& builder = builder_of(L, trace_argument(L));
    const RegBox& condition = condition_argument(L, 2);
    guarded(L, [&] { builder.begin_if(condition.reg, condition.negated); });
    return 0;
}

int builder_begin_else(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.begin_else(); });
    return 0;
}

int builder_end_if(lua_State* L) {
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.end_if(); });
    return 0;
}

// k:label([name])
int builder_label(lua_State* L) {
    const auto& trace = trace_argument(L);
    const std::string_view name = lua_isnoneornil(L, 2) ? "" : string_argument(L, 2);
    Builder& builder = builder_of(L, trace);
    const int index = guarded(L, [&] { return builder.label(std::string(name)); });
    push_object<LabelBox>(L, [&] { return LabelBox{trace, index}; });
    return 1;
}

int label_argument(lua_State* L) {
    const LabelBox& label = check<LabelBox>(L, 2);
    require_same_trace(L, trace_argument(L), label.trace);
    return label.index;
}

int builder_place(lua_State* L) {
    refuse_blocks_of_meanings(L);
    const int label = label_argument(L);
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] { builder.place(label); });
    return 0;
}

// k:jump(label [, predicate])
int builder_jump(lua_State* L) {
    refuse_blocks_of_meanings(L);
    const int label = label_argument(L);
    const bool always = lua_isnoneornil(L, 3);
    const RegBox* const condition = always ? nullptr : &condition_argument(L, 3);
    Builder& builder = builder_of(L, trace_argument(L));
    guarded(L, [&] {
        builder.jump(label, condition == nullptr ? Reg() : condition->reg,
                     condition != nullptr && condition->negated);
    });
    return 0;
}

}  // namespace

void open_blocks(lua_State* L) {
    static const Member methods[] = {{"begin_loop", builder_begin_loop, R"(
Begins a loop: the instructions of its condition come first, then k:loop_condition. k:loop and k:while_ are made of it.
@see k:while_)"},

                                     {"loop_condition", builder_loop_condition, R"(
Ends the condition of a loop: threads where the predicate does not hold leave the loop.
@param condition reg  a predicate, not negated
@see k:while_)"},

                                     {"loop_next", builder_loop_next, R"(
Ends the body of a loop: what follows is executed at the end of every iteration, also where k:continue_ ends it.
@see k:while_)"},

                                     {"end_loop", builder_end_loop, R"(
Ends a loop.
@see k:while_)"},

                                     {"break_", builder_leave<Leave::loop>, R"(
The threads that come here leave the innermost loop.
@see k:continue_
@example
  k:while_(more, function()
    k:if_(found:ne(0), function() k:break_() end)
  end))"},

                                     {"continue_", builder_leave<Leave::iteration>, R"(
The threads that come here go on with the next iteration of the innermost loop; k:loop counts on.
@see k:break_
@example
  k:loop(count, function(i)
    k:if_(i:eq(skipped), function() k:continue_() end)
  end))"},

                                     {"exit", builder_leave<Leave::kernel>, R"(
The threads that come here end. What the warp does together afterwards, such as k:mma, lacks them.
@see k:if_
@example
  k:if_(index:ge(count), function() k:exit() end))"},

                                     {"label", builder_label, R"(
Makes a label for k:jump, which gets its place by k:place, before or after.
@param name string?  as PTX spells it
@return label
@see k:jump)"},

                                     {"place", builder_place, R"(
Jumps to the label lead here.
@param label label
@see k:jump)"},

                                     {"jump", builder_jump, R"(
Goes on where the label is, for control flow that k:if_ and loops do not have.
@param label label
@param predicate reg?  only the threads where it holds
@example
  local done = k:label()
  k:jump(done, count:eq(0))
  k:st_global_f32(out, sum)
  k:place(done)
@see k:if_)"},

                                     {"begin_if", builder_begin_if, R"(
Begins a branch. k:if_ is made of it.
@param condition reg  a predicate
@see k:if_)"},

                                     {"begin_else", builder_begin_else, R"(
Ends the first side of a branch and begins the second.
@see k:if_)"},

                                     {"end_if", builder_end_if, R"(
Ends a branch.
@see k:if_)"},

                                     {}};
    add_methods<BuilderBox>(L, methods);
    declare<LabelBox>(L, {.text = R"(
A place that k:jump leads to, made by k:label.
@see k:label)"});
}

}  // namespace wgrun::lua
