#include "data/table.h"
