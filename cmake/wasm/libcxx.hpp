// What libc++ 13 of Debian's emscripten lacks of C++20's library, as far as wgrun uses it: constrained
// algorithms, std::jthread without stop tokens, three-way comparison of strings, pairs and vectors, and
// from_chars of floating-point numbers. Included before every file of a WebAssembly build (cmake/wasm.cmake,
// cmake/wasm); empty with a library that has them.
#pragma once

#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace std::ranges {

namespace wgrun_detail {

/// compare(project(a), project(b))
template <class Compare, class Project>
constexpr auto projected(Compare& compare, Project& project) {
    return [&compare, &project](auto&& a, auto&& b) -> bool {
        return std::invoke(compare, std::invoke(project, std::forward<decltype(a)>(a)),
                           std::invoke(project, std::forward<decltype(b)>(b)));
    };
}

}  // namespace wgrun_detail

/// An algorithm over a pair of iterators, also over a range: Of has operator()(first, last, arguments...).
template <class Of>
struct wgrun_algorithm {
    template <input_or_output_iterator I, sentinel_for<I> S, class... Arguments>
    constexpr auto operator()(I first, S last, Arguments&&... arguments) const {
        return Of()(std::move(first), ranges::next(first, last), std::forward<Arguments>(arguments)...);
    }
    template <range R, class... Arguments>
    constexpr auto operator()(R&& r, Arguments&&... arguments) const {
        return Of()(ranges::begin(r), ranges::next(ranges::begin(r), ranges::end(r)),
                    std::forward<Arguments>(arguments)...);
    }
};

/// The same with an order and a projection, which callers may leave out or write as {}.
template <class Of, class Order = ranges::less>
struct wgrun_ordering {
    template <input_or_output_iterator I, sentinel_for<I> S, class O = Order, class Project = identity>
    constexpr auto operator()(I first, S last, O order = {}, Project project = {}) const {
        return Of()(first, ranges::next(first, last), wgrun_detail::projected(order, project));
    }
    template <range R, class O = Order, class Project = identity>
    constexpr auto operator()(R&& r, O order = {}, Project project = {}) const {
        return (*this)(ranges::begin(r), ranges::end(r), std::move(order), std::move(project));
    }
};

/// The same of a search for a value in what is sorted.
template <class Of>
struct wgrun_search {
    template <input_or_output_iterator I, sentinel_for<I> S, class T, class Less = ranges::less,
              class Project = identity>
    constexpr auto operator()(I first, S last, const T& value, Less less = {}, Project project = {}) const {
        return Of()(first, ranges::next(first, last), value, less, project);
    }
    template <range R, class T, class Less = ranges::less, class Project = identity>
    constexpr auto operator()(R&& r, const T& value, Less less = {}, Project project = {}) const {
        return (*this)(ranges::begin(r), ranges::end(r), value, std::move(less), std::move(project));
    }
};

template <class I, class O>
struct in_out_result {
    I in;
    O out;
};
template <class A, class B>
struct in_in_result {
    A in1;
    B in2;
};

namespace wgrun_detail {

struct find_if {
    template <class I, class Predicate, class Project = identity>
    constexpr I operator()(I first, I last, Predicate holds, Project project = {}) const {
        while (first != last && !std::invoke(holds, std::invoke(project, *first))) ++first;
        return first;
    }
};
struct find_if_not {
    template <class I, class Predicate, class Project = identity>
    constexpr I operator()(I first, I last, Predicate holds, Project project = {}) const {
        while (first != last && std::invoke(holds, std::invoke(project, *first))) ++first;
        return first;
    }
};
struct find {
    template <class I, class T, class Project = identity>
    constexpr I operator()(I first, I last, const T& value, Project project = {}) const {
        while (first != last && !(std::invoke(project, *first) == value)) ++first;
        return first;
    }
};
struct any_of {
    template <class I, class Predicate, class Project = identity>
    constexpr bool operator()(I first, I last, Predicate holds, Project project = {}) const {
        return find_if()(first, last, std::ref(holds), std::ref(project)) != last;
    }
};
struct none_of {
    template <class I, class Predicate, class Project = identity>
    constexpr bool operator()(I first, I last, Predicate holds, Project project = {}) const {
        return find_if()(first, last, std::ref(holds), std::ref(project)) == last;
    }
};
struct all_of {
    template <class I, class Predicate, class Project = identity>
    constexpr bool operator()(I first, I last, Predicate holds, Project project = {}) const {
        return find_if_not()(first, last, std::ref(holds), std::ref(project)) == last;
    }
};
struct count_if {
    template <class I, class Predicate, class Project = identity>
    constexpr iter_difference_t<I> operator()(I first, I last, Predicate holds, Project project = {}) const {
        iter_difference_t<I> out = 0;
        for (; first != last; ++first) out += std::invoke(holds, std::invoke(project, *first)) ? 1 : 0;
        return out;
    }
};
struct count {
    template <class I, class T, class Project = identity>
    constexpr iter_difference_t<I> operator()(I first, I last, const T& value, Project project = {}) const {
        iter_difference_t<I> out = 0;
        for (; first != last; ++first) out += std::invoke(project, *first) == value ? 1 : 0;
        return out;
    }
};
struct for_each {
    template <class I, class Function, class Project = identity>
    constexpr I operator()(I first, I last, Function function, Project project = {}) const {
        for (; first != last; ++first) std::invoke(function, std::invoke(project, *first));
        return first;
    }
};
struct adjacent_find {
    template <class I, class Order>
    constexpr I operator()(I first, I last, Order order) const {
        return std::adjacent_find(first, last, order);
    }
};
struct sort {
    template <class I, class Order>
    constexpr I operator()(I first, I last, Order order) const {
        std::sort(first, last, order);
        return last;
    }
};
struct stable_sort {
    template <class I, class Order>
    I operator()(I first, I last, Order order) const {
        std::stable_sort(first, last, order);
        return last;
    }
};
struct is_sorted {
    template <class I, class Order>
    constexpr bool operator()(I first, I last, Order order) const {
        return std::is_sorted(first, last, order);
    }
};
struct nth_element {
    template <class I, class Less = ranges::less, class Project = identity>
    constexpr I operator()(I first, I last, I nth, Less less = {}, Project project = {}) const {
        std::nth_element(first, nth, last, projected(less, project));
        return last;
    }
};
struct stable_partition {
    template <class I, class Predicate>
    subrange<I> operator()(I first, I last, Predicate holds) const {
        return {std::stable_partition(first, last, std::ref(holds)), last};
    }
};
struct unique {
    template <class I, class Order>
    constexpr subrange<I> operator()(I first, I last, Order order) const {
        return {std::unique(first, last, order), last};
    }
};
struct reverse {
    template <class I>
    constexpr I operator()(I first, I last) const {
        std::reverse(first, last);
        return last;
    }
};
struct min_element {
    template <class I, class Order>
    constexpr I operator()(I first, I last, Order order) const {
        return std::min_element(first, last, order);
    }
};
struct max_element {
    template <class I, class Order>
    constexpr I operator()(I first, I last, Order order) const {
        return std::max_element(first, last, order);
    }
};
struct min {
    template <class I, class Order>
    constexpr iter_value_t<I> operator()(I first, I last, Order order) const {
        return *std::min_element(first, last, order);
    }
};
struct max {
    template <class I, class Order>
    constexpr iter_value_t<I> operator()(I first, I last, Order order) const {
        return *std::max_element(first, last, order);
    }
};
struct lower_bound {
    template <class I, class T, class Less, class Project>
    constexpr I operator()(I first, I last, const T& value, Less less, Project project) const {
        return std::partition_point(first, last, [&](auto&& element) -> bool {
            return std::invoke(less, std::invoke(project, element), value);
        });
    }
};
struct upper_bound {
    template <class I, class T, class Less, class Project>
    constexpr I operator()(I first, I last, const T& value, Less less, Project project) const {
        return std::partition_point(first, last, [&](auto&& element) -> bool {
            return !std::invoke(less, value, std::invoke(project, element));
        });
    }
};
struct binary_search {
    template <class I, class T, class Less, class Project>
    constexpr bool operator()(I first, I last, const T& value, Less less, Project project) const {
        first = lower_bound()(first, last, value, std::ref(less), std::ref(project));
        return first != last && !std::invoke(less, value, std::invoke(project, *first));
    }
};
struct replace {
    template <class I, class T>
    constexpr I operator()(I first, I last, const T& before, const T& after) const {
        std::replace(first, last, before, after);
        return last;
    }
};
struct fill {
    template <class I, class T>
    constexpr I operator()(I first, I last, const T& value) const {
        std::fill(first, last, value);
        return last;
    }
};
struct copy {
    template <class I, class O>
    constexpr in_out_result<I, O> operator()(I first, I last, O out) const {
        return {last, std::copy(first, last, out)};
    }
};
struct copy_if {
    template <class I, class O, class Predicate>
    constexpr in_out_result<I, O> operator()(I first, I last, O out, Predicate holds) const {
        return {last, std::copy_if(first, last, out, std::ref(holds))};
    }
};
struct move {
    template <class I, class O>
    constexpr in_out_result<I, O> operator()(I first, I last, O out) const {
        return {last, std::move(first, last, out)};
    }
};
struct transform {
    template <class I, input_or_output_iterator O, class Function>
    constexpr in_out_result<I, O> operator()(I first, I last, O out, Function function) const {
        return {last, std::transform(first, last, out, std::ref(function))};
    }
    template <class I, range R, class O, class Function>
    constexpr in_out_result<I, O> operator()(I first, I last, R&& other, O out, Function function) const {
        auto second = ranges::begin(other);
        for (; first != last && second != ranges::end(other); ++first, ++second, ++out)
            *out = std::invoke(function, *first, *second);
        return {first, out};
    }
};
struct equal {
    template <class I, range R, class Equal = ranges::equal_to>
    constexpr bool operator()(I first, I last, R&& other, Equal equal = {}) const {
        return std::equal(first, last, ranges::begin(other), ranges::end(other), std::ref(equal));
    }
};
struct is_permutation {
    template <class I, range R>
    constexpr bool operator()(I first, I last, R&& other) const {
        return std::is_permutation(first, last, ranges::begin(other), ranges::end(other));
    }
};
struct mismatch {
    template <class I, range R, class Equal = ranges::equal_to>
    constexpr in_in_result<I, iterator_t<R>> operator()(I first, I last, R&& other, Equal equal = {}) const {
        const auto [a, b] =
            std::mismatch(first, last, ranges::begin(other), ranges::end(other), std::ref(equal));
        return {a, b};
    }
};
struct merge {
    template <class I, range R, class O>
    constexpr O operator()(I first, I last, R&& other, O out) const {
        return std::merge(first, last, ranges::begin(other), ranges::end(other), out);
    }
};

}  // namespace wgrun_detail

inline namespace wgrun_algorithms {
inline constexpr wgrun_ordering<wgrun_detail::adjacent_find, ranges::equal_to> adjacent_find;
inline constexpr wgrun_algorithm<wgrun_detail::all_of> all_of;
inline constexpr wgrun_algorithm<wgrun_detail::any_of> any_of;
inline constexpr wgrun_search<wgrun_detail::binary_search> binary_search;
inline constexpr wgrun_algorithm<wgrun_detail::copy> copy;
inline constexpr wgrun_algorithm<wgrun_detail::copy_if> copy_if;
inline constexpr wgrun_algorithm<wgrun_detail::count> count;
inline constexpr wgrun_algorithm<wgrun_detail::count_if> count_if;
inline constexpr wgrun_algorithm<wgrun_detail::equal> equal;
inline constexpr wgrun_algorithm<wgrun_detail::fill> fill;
inline constexpr wgrun_algorithm<wgrun_detail::find> find;
inline constexpr wgrun_algorithm<wgrun_detail::find_if> find_if;
inline constexpr wgrun_algorithm<wgrun_detail::find_if_not> find_if_not;
inline constexpr wgrun_algorithm<wgrun_detail::for_each> for_each;
inline constexpr wgrun_algorithm<wgrun_detail::is_permutation> is_permutation;
inline constexpr wgrun_ordering<wgrun_detail::is_sorted> is_sorted;
inline constexpr wgrun_search<wgrun_detail::lower_bound> lower_bound;
inline constexpr wgrun_ordering<wgrun_detail::max> max;
inline constexpr wgrun_ordering<wgrun_detail::max_element> max_element;
inline constexpr wgrun_algorithm<wgrun_detail::merge> merge;
inline constexpr wgrun_ordering<wgrun_detail::min> min;
inline constexpr wgrun_ordering<wgrun_detail::min_element> min_element;
inline constexpr wgrun_algorithm<wgrun_detail::mismatch> mismatch;
inline constexpr wgrun_algorithm<wgrun_detail::move> move;
inline constexpr wgrun_algorithm<wgrun_detail::none_of> none_of;
inline constexpr wgrun_algorithm<wgrun_detail::nth_element> nth_element;
inline constexpr wgrun_algorithm<wgrun_detail::replace> replace;
inline constexpr wgrun_algorithm<wgrun_detail::reverse> reverse;
inline constexpr wgrun_ordering<wgrun_detail::sort> sort;
inline constexpr wgrun_algorithm<wgrun_detail::stable_partition> stable_partition;
inline constexpr wgrun_ordering<wgrun_detail::stable_sort> stable_sort;
inline constexpr wgrun_algorithm<wgrun_detail::transform> transform;
inline constexpr wgrun_ordering<wgrun_detail::unique, ranges::equal_to> unique;
inline constexpr wgrun_search<wgrun_detail::upper_bound> upper_bound;
}  // namespace wgrun_algorithms

}  // namespace std::ranges

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
    if constexpr (sizeof(To) == sizeof(From))
        return __builtin_bit_cast(To, from);
    else if constexpr (is_pointer_v<To>)  // addresses of a GPU have 64 bits, and here is none
        return reinterpret_cast<To>(static_cast<uintptr_t>(from));
    else
        return reinterpret_cast<uintptr_t>(from);
}

template <class C, class T, class A>
constexpr strong_ordering operator<=>(const basic_string<C, T, A>& a,
                                      const basic_string<C, T, A>& b) noexcept {
    return a.compare(b) <=> 0;
}
template <class C, class T>
constexpr strong_ordering operator<=>(basic_string_view<C, T> a,
                                      type_identity_t<basic_string_view<C, T>> b) noexcept {
    return a.compare(b) <=> 0;
}

template <class T>
requires is_unbounded_array_v<T> unique_ptr<T> make_unique_for_overwrite(size_t size) {
    return unique_ptr<T>(new remove_extent_t<T>[size]);
}

/// As far as all parts have a strong order.
template <class T>
constexpr strong_ordering wgrun_order(const T& a, const T& b) {
    if constexpr (requires {
                      { a <=> b } -> same_as<strong_ordering>;
                  })
        return a <=> b;
    else
        return a < b ? strong_ordering::less : b < a ? strong_ordering::greater : strong_ordering::equal;
}
template <class Range>
constexpr strong_ordering wgrun_order_of_elements(const Range& a, const Range& b) {
    auto one = a.begin();
    auto other = b.begin();
    for (; one != a.end() && other != b.end(); ++one, ++other)
        if (const strong_ordering order = wgrun_order(*one, *other); order != 0) return order;
    return a.size() <=> b.size();
}
template <class A, class B>
constexpr strong_ordering operator<=>(const pair<A, B>& a, const pair<A, B>& b) {
    const strong_ordering order = wgrun_order(a.first, b.first);
    return order != 0 ? order : wgrun_order(a.second, b.second);
}
template <class T>
constexpr strong_ordering operator<=>(const optional<T>& a, const optional<T>& b) {
    return a && b ? wgrun_order(*a, *b) : a.has_value() <=> b.has_value();
}
template <class T, class A>
constexpr strong_ordering operator<=>(const vector<T, A>& a, const vector<T, A>& b) {
    return wgrun_order_of_elements(a, b);
}
template <class K, class V, class L, class A>
constexpr strong_ordering operator<=>(const map<K, V, L, A>& a, const map<K, V, L, A>& b) {
    return wgrun_order_of_elements(a, b);
}

/// Joins when it is destroyed; there are no stop tokens.
class jthread : public thread {
  public:
    using thread::thread;
    jthread() noexcept = default;
    jthread(jthread&&) noexcept = default;
    jthread& operator=(jthread&& other) noexcept {
        if (joinable()) join();
        thread::operator=(std::move(other));
        return *this;
    }
    ~jthread() {
        if (joinable()) join();
    }
};

/// Of decimal numbers alone; the locale is "C", which is all that there is.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
    const std::string text(first, std::find_if(first, last, [](char c) {
                               return std::string_view("0123456789+-.eE").find(c) == std::string_view::npos;
                           }));
    char* end = nullptr;
    errno = 0;
    const double out = std::strtod(text.c_str(), &end);
    if (end == text.c_str()) return {first, errc::invalid_argument};
    const char* const after = first + (end - text.c_str());
    if (errno == ERANGE) return {after, errc::result_out_of_range};
    value = out;
    return {after, errc()};
}

}  // namespace std

#endif
