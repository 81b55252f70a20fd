# `cmake --install`: the library, its headers, the command, the scenes, and how other projects find them:
# find_package(pliant) and pkg-config pliant.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS pliant EXPORT pliant-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pliant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/include/pliant/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pliant)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes ${PROJECT_SOURCE_DIR}/schema
  DESTINATION ${CMAKE_INSTALL_DATADIR}/pliant)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(PLIANT_BUILD_APPS)
  install(TARGETS pliant_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(PLIANT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pliant)
install(EXPORT pliant-targets NAMESPACE pliant:: DESTINATION ${PLIANT_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pliant-config.cmake.in
  ${PROJECT_BINARY_DIR}/pliant-config.cmake INSTALL_DESTINATION ${PLIANT_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pliant-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pliant-config.cmake ${PROJECT_BINARY_DIR}/pliant-config-version.cmake
  DESTINATION ${PLIANT_CMAKE_DIR})

# The file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH PLIANT_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# A static library leaves it to its users to link what it needs.
set(PLIANT_PC_NEEDS "-lBulletDynamics -lBulletCollision -lLinearMath -lfmt")
if(PLIANT_TBB)
  string(APPEND PLIANT_PC_NEEDS " -ltbb")
endif()
set(PLIANT_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  set(PLIANT_PC_LIBS "${PLIANT_PC_NEEDS}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/pliant.pc.in ${PROJECT_BINARY_DIR}/pliant.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pliant.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
