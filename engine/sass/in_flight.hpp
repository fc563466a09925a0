// The registers of products that are in flight: from a product of a warpgroup to the wait that covers its
// group nobody may write to its registers, nor read its accumulators (PTX ISA 9.7.15.7).
#pragma once

#include <vector>

#include "sass/graph.hpp"

namespace wgrun::sass {

/// An instruction that touches registers of a product that may be in flight there.
struct Touched {
    enum class What : std::uint8_t {
        fragment,     ///< writes to A's registers
        metadata,     ///< writes to those of a sparse A's metadata
        accumulator,  ///< writes to accumulators
        early_read    ///< reads accumulators
    };
    What what;
    Place product, at;
    int reg;        ///< the first of them
    int committed;  ///< groups that were committed since the product was issued, its own among them
};

/// All of them: for each product and what touches it, the first one on each path.
std::vector<Touched> touched_in_flight(const Function& function, const Graph& graph);

/// A product, and an instruction that wrote to registers of it, behind which no WARPGROUP.ARRIVE orders them.
struct Unordered {
    Place write, product;
    int reg;
};
std::vector<Unordered> written_without_order(const Function& function, const Graph& graph);

/// By product, in the order of the text: the waits that cover it, on each path behind it the first.
std::vector<std::vector<Place>> waits_of_products(const Function& function, const Graph& graph);

/// A product that may be in flight, and how many groups that count were committed since it was issued, its
/// own among them: at most so many.
struct InFlight {
    Place product;
    int committed;
};

/// The products that may be in flight before each instruction of `asked`. counts: by instruction, whether it
/// is a product that ends a group of the program, too; assemblers may cut groups in parts.
std::vector<std::vector<InFlight>> in_flight_at(const Function& function, const Graph& graph,
                                                const std::vector<Place>& asked,
                                                const std::vector<bool>& counts);

}  // namespace wgrun::sass
