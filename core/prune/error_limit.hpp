// The upper confidence limit of a leaf's errors (binomial), as C4.5 and J48 compute it.
//
// Nothing is added where there are no cases; a smaller confidence adds more.
#pragma once

namespace tw {

// The two programs differ in three places: C4.5 interpolates the normal quantile in a small table, takes two thirds of
// what remains where nearly every case is an error, and treats tiny errors as none; J48 does none of these, and adds
// nothing above a confidence of one half.
enum class Deviate { table, exact };

class ErrorLimit {
public:
    ErrorLimit(double confidence, Deviate deviate);
    double extra(double cases, double errors) const;

private:
    double confidence_;
    Deviate deviate_;
    double squared_; // of the normal quantile
};

// The number that a standard normal variable exceeds with probability p.
double normal_upper_quantile(double p);

} // namespace tw
