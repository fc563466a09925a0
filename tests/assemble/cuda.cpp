// NVRTC compiles the CUDA text of every record.
#include "tests/assemble/batch.hpp"

using namespace wgrun;
using namespace wgrun::test;

namespace {

void compiles(Batch& batch) {
    const emit::Text text = emit::cuda(batch.finish());
    try {
        gpu::nvrtc_compile(text.text);
    } catch (const gpu::CompileError& error) {
        UNSCOPED_INFO(error.log().text.substr(0, 4000));
        FAIL_CHECK(error.what());
    }
}

}  // namespace

TEST_CASE("every record compiles as CUDA C++, guarded and not") {
    if (no_nvrtc()) return;
    Batch batch;
    for (const Instruction* op : isa::all()) {
        const Form form = forms_of(*op).front();
        batch.add("free", *op, form);
        if (op->taken_by != isa::Participants::thread) continue;
        const std::vector<Operand> operands = batch.operands(*op, form);
        batch.builder().add(*op, form, operands, batch.reg(Type::pred, 3), true);
    }
    compiles(batch);
}

TEST_CASE("every form compiles as CUDA C++, with every register that the builder takes") {
    if (no_nvrtc()) return;
    auto batch = std::make_unique<Batch>();
    constexpr std::size_t most = 400;  // ptxas runs out of registers on a kernel of several thousand steps
    constexpr std::array declared{Type::pred, Type::b16, Type::b32, Type::u32,
                                  Type::f32,  Type::b64, Type::f64};
    for (const Instruction* op : isa::all()) {
        const bool wgmma = op->name.starts_with("wgmma.mma_async");
        for (const isa::Row& row : op->rows) {
            const std::vector<Form> forms = some_forms_of(row);
            // Of wgmma's some thousand forms the last of each row: the texts differ in their qualifiers
            // alone.
            // Registers depend on the types alone.
            std::set<std::array<int, 3>> types;
            for (const Form& form : wgmma ? std::vector{forms.back()} : forms) {
                const bool fresh =
                    types.insert({form.get(Field::type), form.get(Field::from), form.get(Field::vec)}).second;
                for (std::size_t i = fresh ? 0 : op->operands.size(); i <= op->operands.size(); ++i)
                    for (Type type : declared) {
                        if (batch->size() == most) {
                            compiles(*batch);
                            batch = std::make_unique<Batch>();
                        }
                        std::vector<Operand> operands = batch->operands(*op, form);
                        if (i < op->operands.size()) {
                            const OperandRule& rule = op->operands[i];
                            if (operands[i].kind != Operand::Kind::reg || !isa::agrees(type, rule.type(form)))
                                continue;
                            operands[i].reg = batch->reg(type, 1);
                        } else if (type != Type::pred) {
                            continue;  // once
                        }
                        batch->add(fmt::format("register {}", isa::to_string(type)), *op, form, operands);
                    }
            }
        }
    }
    compiles(*batch);
}
