// A thread pool for numbered tasks, each run once, in any order.
//
// Results do not depend on the schedule because a task writes only to its own slot. A pool lives for one call into the
// core and starts its threads when first needed: none at import, none after the call, so forking is safe. A task that
// uses the pool again is served by its own thread. The first exception cancels the work and is rethrown to the caller.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tw {

// The processor time of the calling thread in nanoseconds: what it worked, whatever else the machine does.
inline int64_t thread_processor_time() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
#else
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

// How many threads to use: 0 means one for each processor that the process may use. More than these only wait for each
// other.
int threads_worth(int wanted);

class ThreadPool {
public:
    // `threads`: see threads_worth. `on_progress` is called now and then by the thread that called `run`, and may throw
    // to end the work: how a long fit notices Ctrl-C and reports progress.
    explicit ThreadPool(int threads, std::function<void(double done)> on_progress = {});
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return threads_; }
    // A chance for the pulse: between long steps that no tasks share, and now and then inside long ones
    // (base/interrupt.hpp).
    void check_interrupt() { poll(); }
    // How much of the whole work is done, from 0 to 1: reported by the pulse.
    void advance(double share) { done_.fetch_add(share, std::memory_order_relaxed); }

    // Begins an account of the owner's processor time; `unshared_time` is what it spent since where no other thread
    // could help, in nanoseconds.
    void begin_account() { began_ = thread_processor_time(); }
    int64_t unshared_time() const { return thread_processor_time() - began_ - shared_; }

    template <class Task>
    void run(int64_t tasks, const Task& task) {
        run_tasks(tasks, [](const void* work, int64_t i) { (*static_cast<const Task*>(work))(i); }, &task);
    }

private:
    using Call = void (*)(const void* work, int64_t i);
    struct Job {
        int64_t tasks = 0;
        Call call = nullptr;
        const void* work = nullptr;
    };

    void start_helpers(int64_t tasks);
    void run_tasks(int64_t tasks, Call call, const void* work);
    void run_tasks_of(const Job& job);
    void wait_for_jobs();
    void fail(std::exception_ptr error);
    void poll();

    int threads_;
    ThreadPool* before_; // the pool of the owner's thread until now
    std::thread::id owner_ = std::this_thread::get_id();
    std::function<void(double)> on_progress_;
    std::chrono::steady_clock::time_point next_poll_;
    std::atomic<double> done_{0};
    int64_t began_ = 0, shared_ = 0; // the account; it is kept once it has begun

    std::vector<std::thread> helpers_;
    std::mutex guard_;
    std::condition_variable wake_, finished_;
    Job job_;
    std::atomic<int64_t> round_{0}; // numbers the jobs
    std::atomic<int> busy_{0};      // helpers at work
    std::atomic<bool> closing_{false};
    bool running_ = false;
    std::atomic<int64_t> next_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr error_;
};

} // namespace tw
