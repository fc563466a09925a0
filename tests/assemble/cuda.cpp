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
        std::vector<Operand> operands;
        for (const OperandRule& rule : op->operands) operands.push_back(batch.operand(rule, form));
        batch.builder().add(*op, form, operands, batch.reg(Type::pred, 3), true);
    }
    compiles(batch);
}

TEST_CASE("the last form of every row compiles as CUDA C++") {
    if (no_nvrtc()) return;
    Batch batch;
    for (const Instruction* op : isa::all())
        for (const isa::Row& row : op->rows) batch.add("row", *op, forms_of(row).back());
    compiles(batch);
}
