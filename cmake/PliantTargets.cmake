# How pliant's own targets are made.
#
#   pliant_module(NAME [QUICK] SOURCES ... [LINK ...] [HEADERS ...])
#                                                one folder of src/, an object library pliant_NAME; of HEADERS, which
#                                                most of its files include, it reads all once
#   pliant_test(NAME SOURCES ... [LINK ...])     one test program, found by CTest
#   pliant_headers(OWNER TARGET [HEADERS ...])   TARGET uses the headers that OWNER reads once

add_library(pliant_flags INTERFACE)
target_compile_options(pliant_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  # State hashes are promised across compilers and CPUs: no fused multiply-add behind our back.
  -ffp-contract=off
  # Vector types wider than the CPU's registers are only passed to inlined functions.
  -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of overlapping copies inside std::string where there are none (GCC bug 105651), and from precompiled
  # headers of more that is wrong with it.
  target_compile_options(pliant_flags INTERFACE -Wno-restrict
    $<$<BOOL:${PLIANT_PRECOMPILE}>:-Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>)
endif()
if(PLIANT_WERROR)
  target_compile_options(pliant_flags INTERFACE -Werror)
endif()
if(PLIANT_ARCH)
  target_compile_options(pliant_flags INTERFACE -march=${PLIANT_ARCH})
endif()
if(PLIANT_SANITIZE)
  target_compile_options(pliant_flags INTERFACE
    -fsanitize=${PLIANT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # GCC takes what the sanitizers add to inlined vector code for the use of variables that were never set.
  target_compile_options(pliant_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(pliant_flags INTERFACE -fsanitize=${PLIANT_SANITIZE})
endif()

# For code around the library, whose own speed does not matter: half the time to compile.
set(PLIANT_QUICK_BUILD $<$<CONFIG:Release,RelWithDebInfo>:-O1>)

# Two thirds of a build were spent on reading the same headers again for each file. OWNER, the first of those that are
# compiled with the same options, reads them once; GCC takes no other's. A folder whose files share large headers of
# their own reads these once too. Every file still includes what it uses: PLIANT_PRECOMPILE=OFF builds without this.
function(pliant_headers owner target)
  if(NOT PLIANT_PRECOMPILE)
    return()
  elseif(NOT owner STREQUAL target)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory> <optional>
      <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <pliant/scene.h> ${ARGN})
  endif()
endfunction()

function(pliant_module name)
  cmake_parse_arguments(arg "QUICK" "" "SOURCES;LINK;HEADERS" ${ARGN})
  add_library(pliant_${name} OBJECT ${arg_SOURCES})
  target_include_directories(pliant_${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(pliant_${name} PRIVATE pliant_flags ${arg_LINK})
  if(arg_QUICK)
    target_compile_options(pliant_${name} PRIVATE ${PLIANT_QUICK_BUILD})
  endif()
  if(arg_HEADERS OR arg_QUICK)
    pliant_headers(pliant_${name} pliant_${name} ${arg_HEADERS})
  else()
    pliant_headers(pliant_base pliant_${name} <math/lane_math.h>)
  endif()
endfunction()

function(pliant_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  add_executable(test_${name} ${arg_SOURCES})
  target_include_directories(test_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(test_${name} PRIVATE pliant_flags ${arg_LINK} fmt::fmt GTest::gtest_main)
  target_compile_options(test_${name} PRIVATE ${PLIANT_QUICK_BUILD})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  pliant_headers(test_base test_${name} <gtest/gtest.h>)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(PLIANT_SANITIZE)  # checked code is 3 to 20 times slower
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 10")
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}. PROPERTIES TIMEOUT ${arg_TIMEOUT} DISCOVERY_TIMEOUT 60)
endfunction()
