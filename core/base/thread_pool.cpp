#include "base/thread_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#if defined(__linux__)
#include <sched.h>
#endif

#include "base/interrupt.hpp"

namespace tw {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(20);
thread_local bool inside_task = false;
thread_local ThreadPool* current_pool = nullptr; // whom this thread works for

// Marks that this thread is at work, until the end of a scope.
struct TaskScope {
    bool before = std::exchange(inside_task, true);
    ~TaskScope() { inside_task = before; }
};

// Jobs follow each other closely, and waking a thread takes longer than many of them: so a thread that waits looks a
// little while before it sleeps.
template <class Ready>
void spin_until(const Ready& ready) {
    constexpr auto spin_time = std::chrono::microseconds(50);
    const auto end = std::chrono::steady_clock::now() + spin_time;
    while (!ready() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

// Thrown where work is given up because another part of it failed; that failure is what the caller gets.
struct Cancelled {};

// Those that this process may use, where the system tells.
int processors() {
#if defined(__linux__)
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) return CPU_COUNT(&usable);
#endif
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

} // namespace

int threads_worth(int wanted) {
    if (wanted == 1) return 1; // finding the number of processors takes longer than predicting a row
    constexpr int always = 4;  // no slower on one processor, and enough for tests of threads
    const int usable = processors();
    return wanted > 0 ? std::min(wanted, std::max(always, usable)) : usable;
}

ThreadPool::ThreadPool(int threads, std::function<void(double)> on_progress)
    : threads_(threads_worth(threads)),
      before_(std::exchange(current_pool, this)),
      on_progress_(std::move(on_progress)),
      next_poll_(std::chrono::steady_clock::now() + poll_interval) {}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard<std::mutex> lock(guard_);
        closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    current_pool = before_;
}

void check_interrupt() {
    if (current_pool) current_pool->check_interrupt();
}

// Between tasks: the owner looks whether it is time for a pulse; anyone stops where the work has failed elsewhere.
void ThreadPool::poll() {
    if (failed_) throw Cancelled{};
    if (!on_progress_ || std::this_thread::get_id() != owner_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_poll_) return;
    next_poll_ = now + poll_interval;
    on_progress_(std::min(1.0, done_.load(std::memory_order_relaxed))); // shares add up to 1 but for rounding
}

void ThreadPool::fail(std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(guard_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
}

void ThreadPool::run_tasks_of(const Job& job) {
    const TaskScope mark;
    for (int64_t i = next_++; i < job.tasks; i = next_++) {
        try {
            job.call(job.work, i);
            poll();
        } catch (...) {
            fail(std::current_exception());
            next_ = job.tasks;
        }
    }
}

void ThreadPool::wait_for_jobs() {
    current_pool = this;
    int64_t seen = 0;
    while (true) {
        spin_until([&] { return closing_ || round_ != seen; });
        std::unique_lock<std::mutex> lock(guard_);
        wake_.wait(lock, [&] { return closing_ || (round_ != seen && running_); });
        if (closing_) return;
        seen = round_;
        const Job job = job_;
        ++busy_;
        lock.unlock();
        run_tasks_of(job);
        lock.lock();
        if (--busy_ == 0) finished_.notify_all();
    }
}

// As many as these tasks can use; where the system allows no more threads, fewer do the work.
void ThreadPool::start_helpers(int64_t tasks) {
    const int64_t wanted = std::min<int64_t>(threads_, tasks) - 1;
    try {
        while (static_cast<int64_t>(helpers_.size()) < wanted) helpers_.emplace_back([this] { wait_for_jobs(); });
    } catch (const std::system_error&) {
        threads_ = static_cast<int>(helpers_.size()) + 1;
    }
}

void ThreadPool::run_tasks(int64_t tasks, Call call, const void* work) {
    if (threads_ <= 1 || tasks <= 1 || inside_task) {
        const TaskScope mark;
        for (int64_t i = 0; i < tasks; ++i) {
            call(work, i);
            poll();
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
    const int64_t start = began_ > 0 ? thread_processor_time() : 0;
    run_tasks_of(job);
    if (began_ > 0) shared_ += thread_processor_time() - start;
    spin_until([&] { return busy_ == 0; });
    std::unique_lock<std::mutex> lock(guard_);
    running_ = false; // who has not woken up yet need not
    while (!finished_.wait_for(lock, poll_interval, [&] { return busy_ == 0; })) {
        lock.unlock();
        try {
            if (!failed_) poll();
        } catch (...) {
            fail(std::current_exception());
        }
        lock.lock();
    }
    failed_ = false;
    if (error_) std::rethrow_exception(error_);
}

} // namespace tw
