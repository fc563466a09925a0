// The library isl (Integer Set Library), opened at run time: a program that embeds wgrun needs it only where
// it asks for verdicts, and links nothing. docs/verdicts.md says why it is this one.
#pragma once

#if __has_include(<isl/set.h>)
#define WGRUN_ISL
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

namespace wgrun::check::symbolic {

#define WGRUN_ISL_FUNCTIONS(f)                                                                             \
    f(basic_set_foreach_constraint) f(basic_set_free) f(constraint_alloc_equality)                         \
        f(constraint_alloc_inequality) f(constraint_free) f(constraint_get_coefficient_val)                \
            f(constraint_get_constant_val) f(constraint_set_coefficient_si)                                \
                f(constraint_set_coefficient_val) f(constraint_set_constant_val) f(ctx_alloc) f(ctx_free)  \
                    f(ctx_last_error) f(ctx_reset_error) f(ctx_reset_operations) f(ctx_set_max_operations) \
                        f(local_space_from_space) f(options_set_on_error) f(set_add_constraint)            \
                            f(set_add_dims) f(set_affine_hull) f(set_copy) f(set_dim) f(set_eliminate)     \
                                f(set_empty) f(set_foreach_basic_set) f(set_free) f(set_from_basic_set)    \
                                    f(set_get_space) f(set_intersect) f(set_is_empty) f(set_is_subset)     \
                                        f(set_n_basic_set) f(set_union) f(set_universe) f(space_copy)      \
                                            f(space_free) f(space_set_alloc) f(val_free)                   \
                                                f(val_get_abs_num_chunks) f(val_int_from_chunks)           \
                                                    f(val_n_abs_num_chunks) f(val_neg) f(val_sgn)

/// isl_set_union() as set_union(), and so on.
struct Isl {
#define WGRUN_ISL_MEMBER(name) decltype(&isl_##name) name = nullptr;
    WGRUN_ISL_FUNCTIONS(WGRUN_ISL_MEMBER)
#undef WGRUN_ISL_MEMBER
};

/// Returns null where it is not installed. Thread-safe.
const Isl* open_isl();
/// The same; it has to be there.
inline const Isl& isl() { return *open_isl(); }

}  // namespace wgrun::check::symbolic
#endif
