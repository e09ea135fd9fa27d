/* SPDX-License-Identifier: MIT */
/*
 * HIP 7's C interface as far as the simulator implements it: names, values
 * and layouts, declared here so that nothing of ROCm is needed to build.
 * tests/sim/test_hip_abi.c proves values and offsets against AMD's headers
 * where they are installed; the static assertions below hold everywhere.
 */
#ifndef SIM_HIP_ABI_H
#define SIM_HIP_ABI_H

#include <stddef.h>
#include <stdint.h>

#define HIP_SIM_VERSION_MAJOR 7
#define HIP_SIM_VERSION_MINOR 2
#define HIP_SIM_VERSION_PATCH 53211
#define HIP_SIM_VERSION                                                                        \
    (HIP_SIM_VERSION_MAJOR * 10000000 + HIP_SIM_VERSION_MINOR * 100000 + HIP_SIM_VERSION_PATCH)

typedef enum hipError_t {
#define HIP_ERROR(name, value, text) name = value,
#include "hip_errors.def"
#undef HIP_ERROR
} hipError_t;

typedef enum hipDeviceAttribute_t {
#define HIP_ATTR(name, value, expr) name = value,
#include "hip_attrs.def"
#undef HIP_ATTR
    hipDeviceAttributeVendorSpecificBegin = 20000
} hipDeviceAttribute_t;

typedef enum hipMemcpyKind {
    hipMemcpyHostToHost = 0,
    hipMemcpyHostToDevice = 1,
    hipMemcpyDeviceToHost = 2,
    hipMemcpyDeviceToDevice = 3,
    hipMemcpyDefault = 4,
    hipMemcpyDeviceToDeviceNoCU = 1024
} hipMemcpyKind;

typedef enum hipMemoryType {
    hipMemoryTypeUnregistered = 0,
    hipMemoryTypeHost = 1,
    hipMemoryTypeDevice = 2,
    hipMemoryTypeManaged = 3,
    hipMemoryTypeArray = 10,
    hipMemoryTypeUnified = 11
} hipMemoryType;

typedef enum hipFunction_attribute {
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_NUM_REGS,
    HIP_FUNC_ATTRIBUTE_PTX_VERSION,
    HIP_FUNC_ATTRIBUTE_BINARY_VERSION,
    HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA,
    HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    HIP_FUNC_ATTRIBUTE_MAX
} hipFunction_attribute;

typedef enum hipFuncAttribute {
    hipFuncAttributeMaxDynamicSharedMemorySize = 8,
    hipFuncAttributePreferredSharedMemoryCarveout = 9,
    hipFuncAttributeMax
} hipFuncAttribute;

typedef enum hipStreamCaptureStatus {
    hipStreamCaptureStatusNone = 0,
    hipStreamCaptureStatusActive,
    hipStreamCaptureStatusInvalidated
} hipStreamCaptureStatus;

typedef enum hipStreamCaptureMode {
    hipStreamCaptureModeGlobal = 0,
    hipStreamCaptureModeThreadLocal,
    hipStreamCaptureModeRelaxed
} hipStreamCaptureMode;

/* Flags of streams, events and host memory. */
#define hipStreamDefault 0x00u
#define hipStreamNonBlocking 0x01u
#define hipEventDefault 0x0u
#define hipEventBlockingSync 0x1u
#define hipEventDisableTiming 0x2u
#define hipEventInterprocess 0x4u
#define hipEventDisableSystemFence 0x20000000u
#define hipEventReleaseToDevice 0x40000000u
#define hipEventReleaseToSystem 0x80000000u
#define hipEventRecordDefault 0x00u
#define hipEventRecordExternal 0x01u
#define hipEventWaitDefault 0x00u
#define hipEventWaitExternal 0x01u
#define hipHostMallocDefault 0x0u
#define hipHostMallocPortable 0x1u
#define hipHostMallocMapped 0x2u
#define hipHostMallocWriteCombined 0x4u
#define hipHostMallocUncached 0x10000000u
#define hipHostMallocNumaUser 0x20000000u
#define hipHostMallocCoherent 0x40000000u
#define hipHostMallocNonCoherent 0x80000000u
#define hipHostRegisterDefault 0x0u
#define hipHostRegisterPortable 0x1u
#define hipHostRegisterMapped 0x2u
#define hipHostRegisterIoMemory 0x4u
#define hipHostRegisterReadOnly 0x08u
#define hipExtHostRegisterUncached 0x80000000u
#define hipDeviceMallocDefault 0x0u
#define hipDeviceMallocFinegrained 0x1u
#define hipDeviceMallocUncached 0x3u
#define hipDeviceMallocContiguous 0x4u

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)
#define HIP_LAUNCH_PARAM_END ((void *)0x03)

typedef int hipDevice_t;
typedef void *hipDeviceptr_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipCtx_t *hipCtx_t;
typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphExec *hipGraphExec_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef void (*hipHostFn_t)(void *userData);
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *userData);
typedef int hipJitOption;

#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)

typedef struct hipUUID_t {
    char bytes[16];
} hipUUID;

/* Bit i of `bits` is the i-th one-bit field of AMD's declaration. */
typedef struct hipDeviceArch_t {
    unsigned bits;
} hipDeviceArch_t;

typedef struct dim3 {
    uint32_t x, y, z;
} dim3;

typedef struct hipPointerAttribute_t {
    enum hipMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
    int isManaged;
    unsigned allocationFlags;
} hipPointerAttribute_t;

/* The properties of HIP 6 and later (entry point hipGetDevicePropertiesR0600). */
typedef struct hipDeviceProp_tR0600 {
    char name[256];
    hipUUID uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated;
    int canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2];
    int maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3];
    int maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
    int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
    int concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseHipArraySupported, hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingHipArraySupported, ipcEventSupported, clusterLaunch;
    int unifiedFunctionPointers, reserved[63], hipReserved[32];
    char gcnArchName[256];
    size_t maxSharedMemoryPerMultiProcessor;
    int clockInstructionRate;
    hipDeviceArch_t arch;
    unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
    int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
    int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
    int isLargeBar, asicRevision;
} hipDeviceProp_tR0600;

/* The properties before HIP 6: what the unsuffixed hipGetDeviceProperties still fills. */
typedef struct hipDeviceProp_tR0000 {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate, memoryClockRate, memoryBusWidth;
    size_t totalConstMem;
    int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor;
    int computeMode, clockInstructionRate;
    hipDeviceArch_t arch;
    int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
    size_t maxSharedMemoryPerMultiProcessor;
    int isMultiGpuBoard, canMapHostMemory, gcnArch;
    char gcnArchName[256];
    int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    int maxTexture1DLinear, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
    unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
    size_t memPitch, textureAlignment, texturePitchAlignment;
    int kernelExecTimeoutEnabled, ECCEnabled, tccDriver;
    int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
    int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
    int isLargeBar, asicRevision, managedMemory, directManagedMemAccessFromHost;
    int concurrentManagedAccess, pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables;
} hipDeviceProp_tR0000;

typedef struct hipLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    hipStream_t stream;
    void *attrs;
    unsigned numAttrs;
} hipLaunchConfig_t;

typedef struct HIP_LAUNCH_CONFIG {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    hipStream_t hStream;
    void *attrs;
    unsigned numAttrs;
} HIP_LAUNCH_CONFIG;

_Static_assert(sizeof(hipUUID) == 16 && sizeof(hipDeviceArch_t) == 4, "HIP 7 layout");
_Static_assert(sizeof(hipPointerAttribute_t) == 32, "HIP 7 layout");
_Static_assert(sizeof(hipDeviceProp_tR0600) == 1472, "HIP 7 layout");
_Static_assert(offsetof(hipDeviceProp_tR0600, multiProcessorCount) == 388, "HIP 7 layout");
_Static_assert(offsetof(hipDeviceProp_tR0600, gcnArchName) == 1160, "HIP 7 layout");
_Static_assert(sizeof(hipDeviceProp_tR0000) == 792, "HIP 5 layout");

typedef struct hipChannelFormatDesc {
    int x, y, z, w;
    int f;
} hipChannelFormatDesc;

#endif
