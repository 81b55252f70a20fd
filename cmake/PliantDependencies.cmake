# Debian packages: libeigen3-dev libbullet-dev libtbb-dev nlohmann-json3-dev libfmt-dev libstb-dev; libcli11-dev for the command;
# libgtest-dev libvalijson-dev for the tests.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_path(STB_INCLUDE_DIR stb/stb_rect_pack.h REQUIRED)
if(PLIANT_TBB)
  find_package(TBB REQUIRED)
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(bullet REQUIRED IMPORTED_TARGET bullet)

# Headers of other projects are not ours to warn about.
add_library(pliant_bullet INTERFACE)
target_include_directories(pliant_bullet SYSTEM INTERFACE ${bullet_INCLUDE_DIRS})
target_link_libraries(pliant_bullet INTERFACE BulletDynamics BulletCollision LinearMath)

if(PLIANT_BUILD_APPS)
  find_package(CLI11 REQUIRED)
endif()
if(PLIANT_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
