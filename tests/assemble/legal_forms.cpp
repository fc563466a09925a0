// Every legal form of every record, with every kind of operand, is assembled by ptxas.
#include "tests/assemble/batch.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

/// Cases of one record, in batches of some hundred steps.
class Batches {
  public:
    template <class... Arguments>
    void add(Arguments&&... arguments) {
        batch().add(std::forward<Arguments>(arguments)...);
        ++count_;
    }
    /// Where the next case goes; its operands are registers of this batch.
    Batch& batch() {
        if (batch_->size() == 256) flush();
        return *batch_;
    }
    void flush() {
        assembles(*batch_);
        batch_ = std::make_unique<Batch>();
    }
    int count() const { return count_; }

  private:
    std::unique_ptr<Batch> batch_ = std::make_unique<Batch>();
    int count_ = 0;
};

const Instruction& wgmma() { return *isa::find("wgmma.mma_async"); }
const Instruction& sparse_wgmma() { return *isa::find("wgmma.mma_async.sp"); }
/// Records with so many forms that they have tests of their own.
bool has_own_test(const Instruction& op) { return &op == &wgmma() || &op == &sparse_wgmma(); }

/// One form for each row and accumulator type.
std::vector<Form> one_of_each_row(const Instruction& op) {
    std::vector<Form> out;
    for (const isa::Row& row : op.rows) {
        std::set<int> seen;
        for (const Form& form : forms_of(row))
            if (seen.insert(form.get(Field::d)).second) out.push_back(form);
    }
    return out;
}

}  // namespace

TEST_CASE("every form of every record assembles, with operands of every kind") {
    if (no_ptxas()) return;
    Batches batches;
    for (const Instruction* op : isa::all()) {
        if (has_own_test(*op)) continue;
        for (const Form& form : mixed_forms_of(*op)) batches.add("registers", *op, form);
        for (const Form& form : some_forms_of(*op)) {
            for (std::size_t i = 0; i < op->operands.size(); ++i) {
                const OperandRule& rule = op->operands[i];
                if (Batch::left_out(rule, form)) continue;
                for (unsigned kind : Batch::kinds_of(rule, form)) {
                    // What the builder refuses: addresses are integers of 32 or 64 bits.
                    const Type type = rule.type ? rule.type(form) : Type::u32;
                    if (kind == OperandRule::shared && (isa::is_float(type) || isa::bits(type) < 32))
                        continue;
                    // PTX has no literals of 16-bit floats, nor of packed integers.
                    if (kind == OperandRule::imm &&
                        ((isa::is_float(type) && type != Type::f32 && type != Type::f64) ||
                         type == Type::u16x2 || type == Type::s16x2))
                        continue;
                    Batch& batch = batches.batch();
                    std::vector<Operand> operands = batch.operands(*op, form);
                    operands[i] = batch.operand(rule, form, kind);
                    batches.add(fmt::format("kind {}", kind), *op, form, operands);
                }
            }
        }
    }
    batches.flush();
    std::printf("%d instructions\n", batches.count());
    CHECK(batches.count() > 1000);
}

TEST_CASE("every register that the builder takes for an operand is taken by ptxas") {
    if (no_ptxas()) return;
    Batches batches;
    constexpr std::array declared{Type::pred, Type::b16, Type::u16, Type::s16, Type::b32, Type::u32,
                                  Type::s32,  Type::f32, Type::b64, Type::u64, Type::s64, Type::f64};
    const auto with_register = [&](const Instruction& op, const Form& form, std::size_t place, Type type) {
        Batch& batch = batches.batch();
        std::vector<Operand> operands = batch.operands(op, form);
        if (operands[place].kind == Operand::Kind::list)
            operands[place].list = batch.regs(type, operands[place].list.size());
        else if (operands[place].kind == Operand::Kind::reg)
            operands[place].reg = batch.reg(type, 1);
        else
            return;
        batches.add(fmt::format("register {}", isa::to_string(type)), op, form, operands);
    };
    for (const Instruction* op : isa::all())
        for (const Form& form : has_own_test(*op) ? one_of_each_row(*op) : some_forms_of(*op))
            for (std::size_t i = 0; i < op->operands.size(); ++i)
                for (Type type : declared)
                    if (const OperandRule& rule = op->operands[i];
                        rule.type && isa::agrees(type, rule.type(form)))
                        with_register(*op, form, i, type);
    batches.flush();
    CHECK(batches.count() > 1000);
}

namespace {

/// Assembles every form, those of one least PTX version together: a text has what its steps need.
int assemble_all(const Instruction& op) {
    std::map<isa::PtxVersion, Batches> by_version;
    int count = 0;
    for (const Form& form : forms_of(op)) {
        by_version[isa::row_of(op, form).min_ptx].add("", op, form);
        ++count;
    }
    for (auto& [version, batches] : by_version) batches.flush();
    std::printf("%d forms of %s\n", count, std::string(op.name).c_str());
    return count;
}

}  // namespace

TEST_CASE("every form of wgmma.mma_async assembles") {
    if (no_ptxas()) return;
    CHECK(assemble_all(wgmma()) > 4000);
}

TEST_CASE("every form of wgmma.mma_async.sp assembles") {
    if (no_ptxas()) return;
    CHECK(assemble_all(sparse_wgmma()) > 7000);
}

TEST_CASE("scale-d and the descriptors of wgmma.mma_async are registers or immediates") {
    if (no_ptxas()) return;
    Batch batch;
    for (const Instruction* op : {&wgmma(), &sparse_wgmma()})
        for (const isa::Row& row : op->rows) {
            const Form form = forms_of(row).front();
            const auto with = [&](std::size_t place, const Operand& operand) {
                std::vector<Operand> operands = batch.operands(*op, form);
                operands[place] = operand;
                batch.add(fmt::format("operand {}", place), *op, form, operands);
            };
            Operand negated = Operand::of(batch.reg(Type::pred));
            negated.negated = true;
            for (const Operand& scale_d :
                 {Operand::number(0), Operand::number(1), Operand::of(batch.reg(Type::pred)), negated})
                with(op->operands.size() - 1, scale_d);
            with(2, Operand::immediate(INT64_MIN));
            if (form.get(Field::a_in) == 0) with(1, Operand::immediate(0x4000000000010000));
        }
    assembles(batch);
}

TEST_CASE("negated predicates, negative offsets and literals at their limits assemble") {
    if (no_ptxas()) return;
    Batch batch;
    const auto add = [&](std::string_view name, Form form, std::vector<Operand> operands) {
        batch.add("by hand", *isa::find(name), form, std::move(operands));
    };
    const auto typed = [](Type type) { return Form().set(Field::type, type); };
    Operand negated = Operand::of(batch.reg(Type::pred));
    negated.negated = true;
    add("selp", typed(Type::f32),
        {Operand::of(batch.reg(Type::f32)), Operand::number(-1.5), Operand::number(0.1), negated});
    for (const auto& [type, least, greatest] : {std::tuple{Type::s32, double{INT32_MIN}, double{INT32_MAX}},
                                                {Type::u32, double{INT32_MIN}, double{UINT32_MAX}},
                                                {Type::s16, -32768.0, 32767.0},
                                                {Type::u16, -32768.0, 65535.0}})
        for (double value : {least, greatest, -1.0})
            add("add", typed(type),
                {Operand::of(batch.reg(type)), Operand::of(batch.reg(type)), Operand::number(value)});
    for (std::int64_t value : {INT64_MIN, INT64_MAX, std::int64_t{-1}}) {
        add("add", typed(Type::s64),
            {Operand::of(batch.reg(Type::s64)), Operand::of(batch.reg(Type::s64)),
             Operand::immediate(value)});
        add("or", typed(Type::b64),
            {Operand::of(batch.reg(Type::b64)), Operand::of(batch.reg(Type::b64)),
             Operand::immediate(value)});
    }
    Form up = typed(Type::b32);
    up.set(Field::op, *isa::parse_value(Field::op, "up"));
    add("shfl.sync", up,
        {Operand::of(batch.reg(Type::f32)), Operand::of(batch.reg(Type::f32)), Operand::number(1),
         Operand::number(0)});  // without the predicate
    Form global = typed(Type::f32), shared = typed(Type::f32);
    global.set(Field::space, static_cast<int>(isa::Space::global));
    shared.set(Field::space, static_cast<int>(isa::Space::shared));
    for (std::int64_t offset : {-16, 0, 16, INT32_MAX, INT32_MIN}) {
        add("ld", global,
            {Operand::of(batch.reg(Type::f32)), Operand::address(batch.reg(Type::u64), offset)});
        add("st", shared,
            {Operand::address(batch.reg(Type::u32), offset), Operand::of(batch.reg(Type::f32))});
    }
    Operand buffer = Operand::shared(batch.shared(), 64);
    buffer.kind = Operand::Kind::address;
    add("ld", shared, {Operand::of(batch.reg(Type::f32)), buffer});
    add("st", shared, {buffer, Operand::number(2)});
    assembles(batch);
}
