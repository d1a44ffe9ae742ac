#include "planner/hop/hop.h"
