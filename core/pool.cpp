#include "pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "breathe.hpp"

namespace tw {
namespace {

constexpr auto between_beats = std::chrono::milliseconds(20);
thread_local bool inside_a_task = false;
thread_local Pool* pool_here = nullptr; // whom this thread works for

// Marks that this thread is at work, until the end of a scope.
struct AtWork {
    bool before = std::exchange(inside_a_task, true);
    ~AtWork() { inside_a_task = before; }
};

// Jobs follow each other closely, and waking a thread takes longer than many of them: so a thread that waits looks a
// little while before it sleeps.
template <class Ready>
void look_a_while(const Ready& ready) {
    constexpr auto while_ = std::chrono::microseconds(50);
    const auto end = std::chrono::steady_clock::now() + while_;
    while (!ready() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

// Thrown where work is given up because another part of it failed; that failure is what the caller hears of.
struct Abandoned {};

// More threads than a few per processor only wait for each other.
int threads_worth(int wanted) {
    const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return wanted > 0 ? std::min(wanted, std::max(16, 2 * processors)) : processors;
}

} // namespace

Pool::Pool(int threads, std::function<void(double)> pulse)
    : threads_(threads_worth(threads)),
      before_(std::exchange(pool_here, this)),
      pulse_(std::move(pulse)),
      next_beat_(std::chrono::steady_clock::now() + between_beats) {}

Pool::~Pool() {
    {
        const std::lock_guard<std::mutex> lock(guard_);
        closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    pool_here = before_;
}

void breathe() {
    if (pool_here) pool_here->breathe();
}

// Between tasks: the owner looks whether it is time for a pulse; anyone stops where the work has failed elsewhere.
void Pool::beat() {
    if (failed_) throw Abandoned{};
    if (!pulse_ || std::this_thread::get_id() != owner_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_beat_) return;
    next_beat_ = now + between_beats;
    pulse_(std::min(1.0, done_.load(std::memory_order_relaxed))); // shares add up to 1 but for rounding
}

void Pool::fail(std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(guard_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
}

void Pool::take_part(const Job& job) {
    const AtWork mark;
    for (int64_t i = next_++; i < job.tasks; i = next_++) {
        try {
            job.call(job.work, i);
            beat();
        } catch (...) {
            fail(std::current_exception());
            next_ = job.tasks;
        }
    }
}

void Pool::wait_for_jobs() {
    pool_here = this;
    int64_t seen = 0;
    while (true) {
        look_a_while([&] { return closing_ || round_ != seen; });
        std::unique_lock<std::mutex> lock(guard_);
        wake_.wait(lock, [&] { return closing_ || (round_ != seen && running_); });
        if (closing_) return;
        seen = round_;
        const Job job = job_;
        ++busy_;
        lock.unlock();
        take_part(job);
        lock.lock();
        if (--busy_ == 0) finished_.notify_all();
    }
}

// As many as these tasks can use; where the system allows no more threads, fewer do the work.
void Pool::start_helpers(int64_t tasks) {
    const int64_t wanted = std::min<int64_t>(threads_, tasks) - 1;
    try {
        while (static_cast<int64_t>(helpers_.size()) < wanted) helpers_.emplace_back([this] { wait_for_jobs(); });
    } catch (const std::system_error&) {
        threads_ = static_cast<int>(helpers_.size()) + 1;
    }
}

void Pool::run_tasks(int64_t tasks, Call call, const void* work) {
    if (threads_ <= 1 || tasks <= 1 || inside_a_task) {
        const AtWork mark;
        for (int64_t i = 0; i < tasks; ++i) {
            call(work, i);
            beat();
        }
        return;
    }
    start_helpers(tasks);
    const Job job{tasks, call, work};
    {
        const std::lock_guard<std::mutex> lock(guard_);
        job_ = job;
        next_ = 0;
        error_ = nullptr;
        failed_ = false;
        running_ = true;
        ++round_;
    }
    wake_.notify_all();
    take_part(job);
    look_a_while([&] { return busy_ == 0; });
    std::unique_lock<std::mutex> lock(guard_);
    running_ = false; // who has not woken up yet need not
    while (!finished_.wait_for(lock, between_beats, [&] { return busy_ == 0; })) {
        lock.unlock();
        try {
            if (!failed_) beat();
        } catch (...) {
            fail(std::current_exception());
        }
        lock.lock();
    }
    failed_ = false;
    if (error_) std::rethrow_exception(error_);
}

} // namespace tw
