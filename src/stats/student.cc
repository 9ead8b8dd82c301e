#include "stats/student.h"

#include <boost/math/distributions/students_t.hpp>

namespace hifi {

double t_quantile(double p, double df) { return boost::math::quantile(boost::math::students_t(df), p); }

}  // namespace hifi
