// The shadow's view of the async proxy: wgmma and the bulk-copy engine.
#include <algorithm>
#include <bit>

#include "sim/shadow.hpp"

namespace wgrun::sim {

using machine::Visible;

void Shadow::async_read(const MmaActor& mma, unsigned warps, Clocks& clocks, std::uint32_t offset,
                        int bytes) {
    const int one = mma.first + std::countr_zero(warps);
    const Clocks::Group known = std::has_single_bit(warps)
                                    ? Clocks::Group{clocks.of(one).seen, clocks.of(one).published}
                                    : clocks.group(mma.first);
    const std::uint32_t end = offset + static_cast<std::uint32_t>(bytes);
    if (!lacks_.empty()) check_lack(offset, end - offset);
    Epoch fine;  // was found published just now: neighbouring words have the same history
    for (std::uint32_t at = offset; at < end; at += word_bytes) {
        const Epoch written = writes_[at / word_bytes];
        if (written && !written.is_link()) {
            if (written == fine) continue;
            if (published(known.seen, known.published, written))
                fine = written;
            else
                check_mma(mma, warps, clocks, written, at);
        } else if (written) {
            const Split& parts = splits_[written.index()];
            for (std::uint32_t b = 0; b < word_bytes; ++b)
                check_mma(mma, warps, clocks, parts.write[b], at + b);
            for (const Displaced& past : parts.displaced)
                if (past.writes) past.for_each([&](Epoch by) { check_mma(mma, warps, clocks, by, at); });
        } else {
            sink_.hazard(Hazard::uninitialised, at, written);
        }
    }
    const auto all = static_cast<std::size_t>(warps_.warps);
    if (in_flight_.empty()) {
        in_flight_.resize(copies_.size() * all);
        in_flight_pc_.resize(in_flight_.size());
    }
    const std::uint32_t serial = before_ + mma.serial;
    latest_ = std::max(latest_, serial);
    const auto first = static_cast<std::size_t>(mma.first - warps_.first);
    for (std::size_t unit = offset / unit_bytes; unit < end / unit_bytes; ++unit)
        for (std::size_t w = 0; w < isa::warps_of_group; ++w) {
            if ((warps >> w & 1U) == 0) continue;
            in_flight_[unit * all + first + w] = serial;
            in_flight_pc_[unit * all + first + w] = mma.pc;
        }
}

void Shadow::check_mma(const MmaActor& mma, unsigned warps, Clocks& clocks, Epoch written,
                       std::uint32_t offset) {
    if (!written) return sink_.hazard(Hazard::uninitialised, offset, written);
    Visible least = Visible::to_async;  // to one of the warps
    for (int w = mma.first; warps != 0; warps >>= 1, ++w) {
        if ((warps & 1U) == 0) continue;
        const KnownClocks known = clocks.of(w);
        least = std::min(least, machine::visible(ordered(known, written), [&] {
                             return published(known.seen, known.published, written);
                         }));
    }
    if (least == Visible::not_yet)
        race(clocks.of(mma.first), Hazard::async_after_write, offset, written);
    else if (least == Visible::to_generic)
        sink_.hazard(Hazard::missing_proxy_fence, offset, written);
}

/// Checks whole words that are to be overwritten: the last write, the reads since, and the reads in flight.
template <class Written, class Read>
void Shadow::overwrite(const Actor& issuer, Epoch write, std::uint32_t offset, std::uint32_t bytes,
                       Written check_written, Read check_read) {
    if (!lacks_.empty()) fill_lack(offset, bytes);
    Epoch fine;  // was found in order just now: neighbouring words have the same history
    for (std::uint32_t word = offset / word_bytes; word < (offset + bytes) / word_bytes; ++word) {
        const Epoch written = writes_[word], read = reads_[word];
        if (written.is_link()) {
            const Split parts = splits_[written.index()];
            for (std::uint32_t b = 0; b < word_bytes; ++b) {
                check_written(parts.write[b], word * word_bytes + b);
                check_read(parts.read[b], word * word_bytes + b);
            }
            for (const Displaced& past : parts.displaced)
                past.for_each([&](Epoch by) {
                    past.writes ? check_written(by, word * word_bytes) : check_read(by, word * word_bytes);
                });
            free_splits_.push_back(written.index());
        } else if (written && written != fine) {
            check_written(written, word * word_bytes);
            fine = written;
        }
        if (read) check_read(read, word * word_bytes);
        writes_[word] = write;
        reads_[word] = Epoch();
    }
    for (std::uint32_t unit = offset / unit_bytes; unit * unit_bytes < offset + bytes; ++unit)
        check_in_flight(issuer, unit);
}

void Shadow::copy_in(const Actor& issuer, Epoch copy, std::uint32_t offset, std::uint32_t bytes) {
    const Epoch now = issue(issuer, copy);
    overwrite(
        issuer, copy, offset, bytes,
        [&](Epoch written, std::uint32_t at) { check_copy_in(issuer, now, written, at); },
        [&](Epoch read, std::uint32_t at) { check_copy_over(issuer, now, read, at); });
}

void Shadow::write_later(const Actor& issuer, Epoch write, std::uint32_t offset, std::uint32_t bytes) {
    const Epoch now = issue(issuer, write);
    overwrite(
        issuer, write, offset, bytes,
        [&](Epoch written, std::uint32_t at) { check_overwrite(issuer, now, written, at); },
        [&](Epoch read, std::uint32_t at) { check_read_before(issuer, now, read, at); });
}

void Shadow::rewrite(Epoch from, Epoch to, std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t word = offset / word_bytes; word < (offset + bytes) / word_bytes; ++word) {
        if (writes_[word] == from) writes_[word] = to;
        if (!writes_[word].is_link()) continue;
        for (Epoch& part : splits_[writes_[word].index()].write)
            if (part == from) part = to;
    }
}

void Shadow::check_copy_in(const Actor& issuer, Epoch now, Epoch written, std::uint32_t offset) {
    if (!written) return;
    const Visible seen = visible(issuer, now, written);
    if (seen == Visible::not_yet)
        race(issuer, Hazard::write_after_write, offset, written);
    else if (seen == Visible::to_generic)
        sink_.hazard(Hazard::unfenced_overwrite, offset, written);
}

// Checks the reads of bytes that a bulk copy overwrites.
void Shadow::check_copy_over(const Actor& issuer, Epoch now, Epoch read, std::uint32_t offset) {
    const auto check = [&](Epoch one) {
        if (visible(issuer, now, one) == Visible::to_generic)
            sink_.hazard(Hazard::unfenced_read, offset, one);
    };
    if (read.is_link()) {
        const Epoch* set = read_sets_.data() + read.index() * set_size();
        for (std::size_t i = 0; i < set_size(); ++i) check(set[i]);
    } else {
        check(read);
    }
    check_read_before(issuer, now, read, offset);
}

void Shadow::copy_out(const Actor& issuer, Epoch copy, std::uint32_t offset, std::uint32_t bytes, bool all) {
    copied_ = true;
    if (all && !lacks_.empty()) check_lack(offset, bytes);
    const Epoch now = issue(issuer, copy);
    Epoch fine;
    for (std::uint32_t word = offset / word_bytes; word < (offset + bytes) / word_bytes; ++word) {
        const Epoch written = writes_[word];
        if (written.is_link()) {
            for (std::uint32_t b = 0; b < word_bytes; ++b)
                check_copy_out(issuer, now, splits_[written.index()].write[b], word * word_bytes + b, all);
            for (const Displaced& past : splits_[written.index()].displaced)
                if (past.writes)
                    past.for_each([&](Epoch by) { check_copy_out(issuer, now, by, word * word_bytes, all); });
        } else if (!written || written != fine) {
            check_copy_out(issuer, now, written, word * word_bytes, all);
            fine = written;
        }
    }
    for (std::uint32_t unit = offset / unit_bytes; unit < (offset + bytes) / unit_bytes; ++unit)
        copies_[unit] = copy;
}

void Shadow::check_published(const Actor& issuer, int lane, std::uint32_t offset, std::uint32_t bytes) {
    const Epoch now(issuer.clock, issuer.pc, issuer.warp, lane);
    const auto check = [&](Epoch written, std::uint32_t at) {
        if (written && visible(issuer, now, written) == Visible::to_generic)
            sink_.hazard(Hazard::missing_proxy_fence, at, written);
    };
    for (std::uint32_t at = offset; at < offset + bytes;) {
        const Epoch written = writes_[at / word_bytes];
        if (written.is_link()) {
            check(splits_[written.index()].write[at % word_bytes], at);
            ++at;
        } else {
            check(written, at);
            at += word_bytes - at % word_bytes;
        }
    }
}

void Shadow::check_written(std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t at = offset; at < offset + bytes; at += word_bytes)
        if (lack(at / word_bytes) != 0) sink_.hazard(Hazard::uninitialised, at, Epoch());
}

unsigned Shadow::lack(std::uint32_t word) const {
    constexpr unsigned all = 15;
    const Epoch written = writes_[word];
    if (!written) return all;
    const auto brought = lacks_.find(word);
    unsigned out = brought == lacks_.end() ? 0 : brought->second;
    if (!written.is_link()) return out;
    for (std::uint32_t b = 0; b < word_bytes; ++b)
        if (!splits_[written.index()].write[b]) out |= 1U << b;
    return out;
}

void Shadow::take_lack(const Shadow& from, std::uint32_t source, std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t at = 0; at < bytes; at += word_bytes)
        if (const unsigned lack = from.lack((source + at) / word_bytes); lack != 0)
            lacks_[(offset + at) / word_bytes] = lack;
}

void Shadow::check_lack(std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t at = offset; at < offset + bytes; ++at) {
        const auto found = lacks_.find(at / word_bytes);
        if (found == lacks_.end() || (found->second >> at % word_bytes & 1U) == 0) continue;
        const Epoch written = writes_[at / word_bytes];
        return sink_.hazard(Hazard::uninitialised, at,
                            written.is_link() ? splits_[written.index()].write[at % word_bytes] : written);
    }
}

void Shadow::fill_lack(std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t at = offset; at < offset + bytes; ++at)
        if (const auto found = lacks_.find(at / word_bytes);
            found != lacks_.end() && (found->second &= ~(1U << at % word_bytes)) == 0)
            lacks_.erase(found);
}

void Shadow::check_copy_out(const Actor& issuer, Epoch now, Epoch written, std::uint32_t offset, bool all) {
    if (!written) {
        if (all) sink_.hazard(Hazard::uninitialised, offset, written);
        return;
    }
    const Visible seen = visible(issuer, now, written);
    if (seen == Visible::not_yet)
        race(issuer, Hazard::async_after_write, offset, written);
    else if (seen == Visible::to_generic)
        sink_.hazard(Hazard::missing_proxy_fence, offset, written);
}

}  // namespace wgrun::sim
