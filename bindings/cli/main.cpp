#include "bindings/cli/cli.hpp"

int main(int argc, char** argv) { return wgrun::cli::main(argc, argv); }
