; SPDX-License-Identifier: MIT
; Kernels of the simulator's core tests.  core_kernels.sh assembles them into core_kernels.inc.
; Each starts with s[0:1] = arguments {in, out}, s2..s4 = workgroup, v0 = packed work-item ids.

.macro start
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v2, 4, v0
  s_waitcnt lgkmcnt(0)
.endm

.macro resource base_lo, base_hi, records
  s_mov_b32 s12, \base_lo
  s_and_b32 s13, \base_hi, 0xffff
  s_mov_b32 s14, \records
  s_mov_b32 s15, 0x20000
.endm

; ---------------------------------------------------------------- memory
k_copy_x4:
  start
  global_load_dwordx4 v[4:7], v2, s[8:9]
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v2, v[4:7], s[10:11]
  s_endpgm

k_load_kinds:
  start
  v_lshlrev_b32 v3, 6, v0
  v_mov_b32 v16, s8
  v_mov_b32 v17, s9
  global_load_ubyte v4, v2, s[8:9] offset:1
  global_load_sbyte v5, v2, s[8:9] offset:1
  global_load_ushort v6, v2, s[8:9] offset:2
  global_load_sshort v7, v2, s[8:9] offset:2
  global_load_short_d16 v8, v2, s[8:9] offset:2
  global_load_short_d16_hi v9, v2, s[8:9] offset:2
  global_load_ubyte_d16_hi v10, v2, s[8:9] offset:1
  global_load_sbyte_d16 v11, v2, s[8:9] offset:1
  global_load_dwordx3 v[12:14], v2, s[8:9] offset:4
  flat_load_dword v15, v[16:17] offset:8
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dwordx4 v3, v[4:7], s[10:11]
  global_store_dwordx4 v3, v[8:11], s[10:11] offset:16
  global_store_dwordx4 v3, v[12:15], s[10:11] offset:32
  s_endpgm

k_store_kinds:
  start
  global_load_dwordx4 v[4:7], v2, s[8:9]
  v_lshlrev_b32 v3, 5, v0
  s_waitcnt vmcnt(0)
  global_store_byte v3, v4, s[10:11] offset:1
  global_store_short v3, v4, s[10:11] offset:2
  global_store_byte_d16_hi v3, v5, s[10:11] offset:5
  global_store_short_d16_hi v3, v5, s[10:11] offset:6
  global_store_dwordx2 v3, v[6:7], s[10:11] offset:8
  global_store_dwordx3 v3, v[4:6], s[10:11] offset:16
  s_endpgm

k_buffer_load:
  start
  resource s8, s9, 200
  buffer_load_dwordx4 v[4:7], v2, s[12:15], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v2, v[4:7], s[10:11]
  s_endpgm

k_buffer_store:
  start
  resource s10, s11, 200
  global_load_dwordx4 v[4:7], v2, s[8:9]
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[4:7], v2, s[12:15], 0 offen
  buffer_store_byte v4, v1, s[12:15], 0 offen offset:1024
  s_endpgm

k_buffer_struct:
  start
  resource s8, s9, 20
  s_or_b32 s13, s13, 0x100000
  buffer_load_dword v4, v0, s[12:15], 0 idxen offset:4
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[10:11]
  s_endpgm

k_buffer_soffset:
  start
  resource s8, s9, 64
  s_movk_i32 s16, 512
  buffer_load_dword v4, v1, s[12:15], s16 offen
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[10:11]
  s_endpgm

k_buffer_unbound:
  start
  s_mov_b32 s12, 0
  s_mov_b32 s13, 0
  s_mov_b32 s14, 0
  s_mov_b32 s15, 0
  buffer_load_dword v4, v1, s[12:15], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[10:11]
  s_endpgm

k_buffer_atomic:
  start
  resource s10, s11, 64
  v_mov_b32 v4, 5
  buffer_atomic_add v4, v1, s[12:15], 0 offen sc0
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[10:11] offset:1024
  s_endpgm

k_buffer_lds:
  start
  resource s8, s9, 200
  s_movk_i32 m0, 256
  s_nop 0
  buffer_load_dwordx4 v2, s[12:15], 0 offen lds
  s_mov_b32 m0, 0
  s_nop 0
  buffer_load_dword v1, s[12:15], 0 offen lds
  s_waitcnt vmcnt(0)
  ds_read_b128 v[4:7], v2 offset:256
  ds_read_b32 v8, v1
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v2, v[4:7], s[10:11]
  global_store_dword v1, v8, s[10:11] offset:1024
  s_endpgm

k_global_lds:
  start
  s_movk_i32 m0, 1024
  v_mov_b32 v3, v2
  s_nop 0
  global_load_lds_dwordx4 v2, s[8:9]
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[8:9] offset:16
  s_movk_i32 m0, 512
  s_nop 0
  global_load_lds_ubyte v1, s[8:9]
  s_waitcnt vmcnt(0)
  ds_read_b128 v[4:7], v2 offset:1024
  ds_read_b32 v8, v1 offset:16
  ds_read_b32 v9, v1 offset:512
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v2, v[4:7], s[10:11]
  global_store_dword v1, v8, s[10:11] offset:1024
  global_store_dword v1, v9, s[10:11] offset:1280
  s_endpgm

k_scratch:
  start
  v_add_u32 v4, 7, v0
  v_add_u32 v5, 9, v0
  v_mov_b32 v3, 8
  s_mov_b32 s16, 16
  scratch_store_dword off, v4, off offset:4
  scratch_store_dwordx2 v3, v[4:5], off offset:16
  scratch_store_byte off, v5, s16 offset:1
  scratch_store_byte off, v5, s16
  scratch_store_short off, v4, s16 offset:2
  s_waitcnt vmcnt(0)
  scratch_load_dword v8, off, off offset:4
  scratch_load_dwordx2 v[10:11], off, off offset:24
  scratch_load_dword v9, off, s16
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v2, v[8:11], s[10:11]
  s_endpgm

k_flat_apertures:
  start
  s_mov_b64 s[12:13], src_shared_base
  s_mov_b64 s[14:15], src_private_base
  v_mov_b32 v4, v1
  v_mov_b32 v5, s13
  v_mov_b32 v6, 8
  v_mov_b32 v7, s15
  v_add_u32 v8, 3, v0
  v_add_u32 v9, 4, v0
  flat_store_dword v[4:5], v8
  flat_store_dword v[6:7], v9
  s_waitcnt vmcnt(0) lgkmcnt(0)
  flat_load_dword v10, v[4:5]
  flat_load_dword v11, v[6:7]
  scratch_load_dword v12, off, off offset:8
  ds_read_b32 v13, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dwordx4 v2, v[10:13], s[10:11]
  s_endpgm

k_atomics:
  start
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  v_mov_b32 v3, 0
  global_atomic_add v6, v3, v4, s[10:11] sc0
  global_atomic_umax v3, v0, s[10:11] offset:4
  global_atomic_or v3, v0, s[10:11] offset:8
  global_atomic_add_x2 v3, v[4:5], s[10:11] offset:16
  v_mov_b32 v8, 1.0
  global_atomic_add_f32 v3, v8, s[10:11] offset:24
  v_mov_b32 v9, 0x3f803f80
  global_atomic_pk_add_bf16 v3, v9, s[10:11] offset:28
  v_mov_b32 v10, 77
  v_mov_b32 v11, 5
  global_atomic_cmpswap v3, v[10:11], s[10:11] offset:32
  s_waitcnt vmcnt(0)
  global_store_dword v1, v6, s[10:11] offset:256
  s_endpgm

k_smem:
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dwordx16 s[16:31], s[8:9], 0x0
  s_load_dwordx8 s[32:39], s[8:9], 0x40
  s_load_dword s40, s[8:9], 0x60
  s_movk_i32 s41, 0x64
  s_load_dwordx2 s[42:43], s[8:9], s41 offset:0x4
  s_mov_b32 s44, s8
  s_and_b32 s45, s9, 0xffff
  s_mov_b32 s46, 8
  s_mov_b32 s47, 0x20000
  s_buffer_load_dwordx4 s[48:51], s[44:47], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, 0
  v_mov_b32 v4, s16
  v_mov_b32 v5, s31
  v_mov_b32 v6, s39
  v_mov_b32 v7, s40
  v_mov_b32 v8, s42
  v_mov_b32 v9, s43
  v_mov_b32 v10, s49
  v_mov_b32 v11, s50
  global_store_dwordx4 v1, v[4:7], s[10:11]
  global_store_dwordx4 v1, v[8:11], s[10:11] offset:16
  s_endpgm

; ------------------------------------------------------------------- LDS
k_ds_widths:
  start
  global_load_dwordx4 v[4:7], v2, s[8:9]
  s_waitcnt vmcnt(0)
  ds_write_b128 v2, v[4:7]
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v3, 6, v0
  ds_read_b64 v[8:9], v2 offset:8
  ds_read_b96 v[12:14], v2
  ds_read_u8 v16, v2 offset:1
  ds_read_i8 v17, v2 offset:1
  ds_read_u16 v18, v2 offset:2
  ds_read_i16 v19, v2 offset:2
  ds_read2_b32 v[20:21], v2 offset0:1 offset1:3
  ds_read2_b64 v[22:25], v2 offset1:1
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v10, v12
  v_mov_b32 v11, v14
  global_store_dwordx4 v3, v[8:11], s[10:11]
  global_store_dwordx4 v3, v[16:19], s[10:11] offset:16
  global_store_dwordx2 v3, v[20:21], s[10:11] offset:32
  global_store_dwordx4 v3, v[22:25], s[10:11] offset:48
  s_endpgm

k_ds_writes:
  start
  global_load_dwordx4 v[4:7], v2, s[8:9]
  s_waitcnt vmcnt(0)
  ds_write_b8 v2, v4
  ds_write_b8 v2, v5 offset:1
  ds_write_b16 v2, v6 offset:2
  ds_write_b32 v2, v7 offset:4
  ds_write2_b32 v2, v4, v5 offset0:2 offset1:3
  ds_write2st64_b32 v1, v6, v7 offset0:4 offset1:5
  ds_write_b16_d16_hi v1, v5 offset:1536
  ds_write_b8_d16_hi v1, v5 offset:1538
  ds_write_b8 v1, v5 offset:1539
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[8:11], v2
  ds_read_b32 v12, v1 offset:1024
  ds_read_b32 v13, v1 offset:1280
  ds_read_b32 v14, v1 offset:1536
  v_mov_b32 v15, 0
  v_lshlrev_b32 v3, 5, v0
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v3, v[8:11], s[10:11]
  global_store_dwordx4 v3, v[12:15], s[10:11] offset:16
  s_endpgm

k_ds_atomics:
  start
  v_mov_b32 v3, 0
  v_mov_b32 v4, 1
  v_mov_b32 v5, 0
  v_mov_b32 v8, 100
  v_mov_b32 v9, 0
  ds_write_b64 v3, v[8:9]
  ds_write_b64 v3, v[8:9] offset:8
  ds_write_b64 v3, v[4:5] offset:16
  s_waitcnt lgkmcnt(0)
  ds_add_rtn_u32 v10, v3, v4
  ds_min_u32 v3, v0 offset:4
  ds_add_u64 v3, v[4:5] offset:8
  ds_cmpst_b32 v3, v4, v8 offset:16
  ds_inc_rtn_u32 v11, v3, v8 offset:20
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[12:15], v3
  ds_read_b64 v[16:17], v3 offset:16
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v6, 5, v0
  global_store_dwordx4 v6, v[10:13], s[10:11]
  global_store_dwordx4 v6, v[14:17], s[10:11] offset:16
  s_endpgm

k_ds_lanes:
  start
  v_add_u32 v4, 1000, v0
  v_sub_u32 v5, 252, v1
  ds_bpermute_b32 v8, v5, v4
  ds_permute_b32 v9, v5, v4 offset:4
  ds_swizzle_b32 v10, v4 offset:swizzle(SWAP,16)
  ds_swizzle_b32 v11, v4 offset:swizzle(QUAD_PERM,3,2,1,0)
  s_waitcnt lgkmcnt(0)
  global_store_dwordx4 v2, v[8:11], s[10:11]
  s_endpgm

k_ds_conflicts:
  start
  v_lshlrev_b32 v3, 8, v0
  v_mov_b32 v4, 0
  ds_write_b32 v3, v4
  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v5, v4
  s_endpgm

; ---------------------------------------------------------------- checks
k_wait_vm_bad:
  start
  global_load_dword v4, v1, s[8:9]
  v_add_u32 v5, 1, v4
  s_endpgm
k_wait_vm_good:
  start
  global_load_dword v4, v1, s[8:9]
  s_waitcnt vmcnt(0)
  v_add_u32 v5, 1, v4
  s_endpgm

k_wait_order_bad:
  start
  global_load_dword v4, v1, s[8:9]
  global_load_dword v5, v1, s[8:9] offset:4
  s_waitcnt vmcnt(1)
  v_add_u32 v6, 1, v5
  s_endpgm
k_wait_order_good:
  start
  global_load_dword v4, v1, s[8:9]
  global_load_dword v5, v1, s[8:9] offset:4
  s_waitcnt vmcnt(1)
  v_add_u32 v6, 1, v4
  s_endpgm

k_wait_overwrite_bad:
  start
  global_load_dword v4, v1, s[8:9]
  v_mov_b32 v4, 0
  s_endpgm
k_wait_overwrite_good:
  start
  global_load_dword v4, v1, s[8:9]
  global_load_dword v4, v1, s[8:9]
  s_waitcnt vmcnt(0)
  v_mov_b32 v4, 0
  s_endpgm

k_wait_store_bad:
  start
  global_load_dword v4, v1, s[8:9]
  global_store_dword v1, v4, s[10:11]
  s_endpgm
k_wait_store_good:
  start
  global_load_dword v4, v1, s[8:9]
  global_store_dword v1, v0, s[10:11]
  s_waitcnt vmcnt(1)
  global_store_dword v1, v4, s[10:11]
  s_endpgm

k_wait_smem_bad:
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_load_dwordx2 s[10:11], s[0:1], 0x8
  s_waitcnt lgkmcnt(2)
  s_add_u32 s12, s8, 1
  s_endpgm
k_wait_smem_good:
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_load_dwordx2 s[10:11], s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  s_add_u32 s12, s8, 1
  s_endpgm

k_wait_ds_bad:
  start
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v4, v1
  ds_read_b32 v5, v1
  s_waitcnt lgkmcnt(1)
  v_add_u32 v6, 1, v5
  s_endpgm
k_wait_ds_good:
  start
  ds_write_b32 v1, v0
  ds_read_b32 v4, v1
  ds_read_b32 v5, v1
  s_waitcnt lgkmcnt(1)
  v_add_u32 v6, 1, v4
  s_endpgm

k_wait_flat_bad:
  start
  v_mov_b32 v4, s8
  v_mov_b32 v5, s9
  flat_load_dword v6, v[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v7, 1, v6
  s_endpgm
k_wait_flat_good:
  start
  v_mov_b32 v4, s8
  v_mov_b32 v5, s9
  flat_load_dword v6, v[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32 v7, 1, v6
  s_endpgm

k_wait_ldsdirect_bad:
  start
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[8:9]
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v4, v1
  s_endpgm
k_wait_ldsdirect_good:
  start
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[8:9]
  s_waitcnt vmcnt(0)
  ds_read_b32 v4, v1
  s_endpgm

; Two waves; each reads what the other brought to LDS.
k_wait_published_bad:
  start
  v_readfirstlane_b32 s16, v1
  s_mov_b32 m0, s16
  s_nop 0
  global_load_lds_dword v1, s[8:9]
  s_barrier
  s_waitcnt vmcnt(0)
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_wait_published_good:
  start
  v_readfirstlane_b32 s16, v1
  s_mov_b32 m0, s16
  s_nop 0
  global_load_lds_dword v1, s[8:9]
  s_waitcnt vmcnt(0)
  s_barrier
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm

k_wait_dswrite_bad:
  start
  ds_write_b32 v1, v0
  s_barrier
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_wait_dswrite_good:
  start
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm

k_race_bad:
  start
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_race_good:
  start
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_write_b32 v1, v4
  s_endpgm

; The second write overtakes the other wave's read.
k_race_read_bad:
  start
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32 v3, 0x100, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  ds_write_b32 v1, v4
  s_endpgm
; Waves write different bytes of the same dwords, then add to one dword atomically.
k_race_bytes_good:
  start
  v_lshrrev_b32 v3, 6, v0
  v_and_b32 v4, 63, v0
  v_lshlrev_b32 v4, 2, v4
  v_add_u32 v4, v4, v3
  v_mov_b32 v5, 1
  v_mov_b32 v6, 0
  ds_write_b8 v4, v5
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_write_b8 v4, v5 offset:2
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_add_u32 v6, v5
  s_waitcnt lgkmcnt(0)
  s_endpgm

k_hazard_mfma_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_nop 6
  v_add_u32 v12, 1, v8
  s_endpgm
k_hazard_mfma_good:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_nop 7
  v_add_u32 v12, 1, v8
  s_endpgm

k_hazard_fp8_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v16, 0
  v_mov_b32 v17, 0
  v_mov_b32 v18, 0
  v_mov_b32 v19, 0
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  v_mov_b32 v22, 0
  v_mov_b32 v23, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[16:23], v[4:7]
  s_nop 10
  global_store_dword v1, v8, s[10:11]
  s_endpgm
k_hazard_fp8_good:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v16, 0
  v_mov_b32 v17, 0
  v_mov_b32 v18, 0
  v_mov_b32 v19, 0
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  v_mov_b32 v22, 0
  v_mov_b32 v23, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[16:23], v[16:23], v[4:7]
  s_nop 11
  global_store_dword v1, v8, s[10:11]
  s_endpgm

; Accumulating into the same registers needs no wait, a different tuple does.
k_hazard_srcc_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_nop 4
  v_mfma_f32_16x16x128_f8f6f4 v[16:19], v[4:7], v[4:7], v[10:13] cbsz:4 blgp:4
  s_endpgm
k_hazard_srcc_good:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[8:11] cbsz:4 blgp:4
  s_nop 5
  v_mfma_f32_16x16x128_f8f6f4 v[16:19], v[4:7], v[4:7], v[10:13] cbsz:4 blgp:4
  s_endpgm

k_hazard_srca_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_nop 0
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_endpgm

k_hazard_war_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_nop 1
  v_mov_b32 v7, 1
  s_endpgm
k_hazard_war_good:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  s_nop 1
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_nop 2
  v_mov_b32 v7, 1
  s_endpgm

k_hazard_trans_bad:
  start
  v_rcp_f32 v4, v0
  v_add_f32 v5, 1.0, v4
  s_endpgm
k_hazard_trans_good:
  start
  v_rcp_f32 v4, v0
  v_exp_f32 v6, v4
  v_add_f32 v5, 1.0, v4
  s_endpgm

k_hazard_sgpr_bad:
  start
  v_cmp_eq_u32 s[16:17], 1, v0
  s_nop 0
  v_mov_b32 v4, s16
  s_endpgm
k_hazard_sgpr_good:
  start
  v_mov_b32 v5, 1
  v_cmp_eq_u32 s[16:17], 1, v0
  v_cndmask_b32 v4, v5, v0, s[16:17]
  v_cmp_eq_u32 s[16:17], 1, v0
  s_nop 1
  v_mov_b32 v4, s16
  s_mov_b32 s18, s16
  s_endpgm

k_hazard_vmem_bad:
  start
  resource s8, s9, 256
  v_readfirstlane_b32 s16, v1
  s_nop 3
  buffer_load_dword v4, v1, s[12:15], s16 offen
  s_endpgm
k_hazard_vmem_good:
  start
  resource s8, s9, 256
  v_readfirstlane_b32 s16, v1
  s_nop 4
  buffer_load_dword v4, v1, s[12:15], s16 offen
  s_endpgm
k_hazard_lane_bad:
  start
  v_readfirstlane_b32 s12, v1
  s_nop 2
  v_readlane_b32 s13, v1, s12
  s_endpgm
k_hazard_lane_good:
  start
  v_readfirstlane_b32 s12, v1
  s_nop 3
  v_readlane_b32 s13, v1, s12
  s_endpgm
k_hazard_readlane_bad:
  start
  v_add_u32 v4, 1, v0
  v_readlane_b32 s13, v4, 3
  s_endpgm
k_hazard_permlane_bad:
  start
  v_add_u32 v4, 1, v0
  v_add_u32 v5, 1, v0
  s_nop 0
  v_permlane32_swap_b32 v4, v5
  s_endpgm
k_hazard_permlane_good:
  start
  v_add_u32 v4, 1, v0
  v_add_u32 v5, 1, v0
  s_nop 1
  v_permlane32_swap_b32 v4, v5
  v_add_u32 v6, v4, v5
  s_endpgm
k_hazard_dpp_bad:
  start
  v_add_u32 v4, 1, v0
  s_nop 0
  v_mov_b32_dpp v5, v4 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
  s_endpgm
k_hazard_m0_bad:
  start
  s_mov_b32 m0, 0
  global_load_lds_dword v1, s[8:9]
  s_endpgm
k_hazard_wide_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  global_store_dwordx4 v2, v[4:7], s[10:11]
  s_nop 0
  v_mov_b32 v6, 1
  s_endpgm
k_hazard_wide_good:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  global_store_dwordx4 v2, v[4:7], s[10:11]
  s_nop 1
  v_mov_b32 v6, 1
  global_store_dwordx2 v2, v[4:5], s[10:11]
  v_mov_b32 v4, 1
  s_endpgm
k_hazard_cmpx_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_cmpx_le_u32 0, v0
  s_nop 2
  v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[4:7], v[4:7], v[4:7] cbsz:4 blgp:4
  s_endpgm
k_hazard_cvt_bad:
  start
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 1.0
  v_mov_b32 v6, 0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0 op_sel:[0,0,1,0]
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0 op_sel:[0,0,0,1]
  s_endpgm
k_hazard_cvt_good:
  start
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 1.0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0 op_sel:[0,0,1,0]
  s_nop 0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0 op_sel:[0,0,0,1]
  s_nop 0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v5, 1.0 op_sel:[0,0,1,1]
  s_nop 0
  global_store_dword v1, v6, s[10:11]
  s_endpgm

k_hazard_setreg_bad:
  start
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  s_nop 0
  s_getreg_b32 s16, hwreg(HW_REG_MODE)
  s_endpgm
k_hazard_setreg_good:
  start
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  s_nop 1
  s_getreg_b32 s16, hwreg(HW_REG_MODE)
  s_endpgm

k_uninit_reg_bad:
  start
  v_add_u32 v4, v5, v0
  s_endpgm
k_uninit_lane_bad:
  start
  s_mov_b32 exec_lo, 0xffff
  v_mov_b32 v4, 1
  s_mov_b32 exec_lo, -1
  v_add_u32 v5, v4, v0
  s_endpgm
k_uninit_lane_good:
  start
  v_mov_b32 v8, v9
  s_mov_b32 exec_lo, 0xffff
  v_mov_b32 v4, 1
  v_add_u32 v5, v4, v0
  s_endpgm
k_uninit_sgpr_bad:
  start
  s_add_u32 s20, s21, s22
  s_endpgm
k_uninit_bytes_bad:
  start
  v_mov_b32 v4, 1.0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v4, 1.0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v4, 1.0 op_sel:[0,0,1,0]
  s_nop 0
  global_store_dword v1, v6, s[10:11]
  s_endpgm
k_uninit_bytes_good:
  start
  v_mov_b32 v4, 1.0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v4, 1.0
  v_cvt_scalef32_pk_fp4_f32 v6, v4, v4, 1.0 op_sel:[0,0,1,0]
  s_nop 0
  global_store_short v1, v6, s[10:11]
  s_endpgm
k_uninit_spill_good:
  start
  scratch_store_dword off, v9, off
  s_waitcnt vmcnt(0)
  scratch_load_dword v10, off, off
  s_waitcnt vmcnt(0)
  s_endpgm
k_uninit_spill_bad:
  start
  scratch_store_dword off, v9, off
  s_waitcnt vmcnt(0)
  scratch_load_dword v10, off, off
  s_waitcnt vmcnt(0)
  v_add_u32 v11, 1, v10
  s_endpgm
; What compilers do with registers that hold nothing yet: SGPRs kept in lanes, masks grown
; under EXEC, the high half of a 64-bit addend, the second of two packed floats.
k_uninit_idioms_good:
  start
  v_writelane_b32 v20, s30, 3
  s_nop 3
  v_readlane_b32 s31, v20, 3
  v_readlane_b32 s32, v20, 4
  s_or_b64 s[34:35], s[34:35], exec
  s_and_b64 s[36:37], s[34:35], exec
  v_mad_u64_u32 v[8:9], s[40:41], v0, v1, v[0:1]
  v_mov_b32 v10, v0
  v_mad_u64_u32 v[10:11], s[40:41], v0, v1, v[10:11]
  v_add_u32 v12, v10, v0
  v_mov_b32 v14, 1.0
  v_pk_mul_f32 v[16:17], v[14:15], v[14:15]
  v_add_f32 v18, v16, v14
  s_endpgm
k_uninit_pair_bad:
  start
  v_mov_b32 v14, 1.0
  v_pk_mul_f32 v[16:17], v[14:15], v[14:15]
  v_add_f32 v18, v17, v14
  s_endpgm
k_uninit_high_bad:
  start
  v_mov_b32 v10, v0
  v_mad_u64_u32 v[10:11], s[40:41], v0, v1, v[10:11]
  v_add_u32 v12, v11, v0
  s_endpgm
k_uninit_readlane_bad:
  start
  v_writelane_b32 v20, s30, 3
  s_nop 3
  v_readlane_b32 s31, v20, 3
  s_add_u32 s33, s31, 1
  s_endpgm
; Indexed registers: v[4 + 3] is written, then read back as v7 and by index.
k_indexed_good:
  start
  s_mov_b32 s16, 3
  v_mov_b32 v7, v0
  s_set_gpr_idx_on s16, gpr_idx(DST)
  v_mov_b32 v4, v1
  s_set_gpr_idx_off
  v_add_u32 v8, v7, v0
  s_set_gpr_idx_on s16, gpr_idx(SRC0)
  v_mov_b32 v9, v4
  s_set_gpr_idx_off
  global_store_dword v1, v9, s[10:11]
  s_endpgm
k_indexed_bad:
  start
  s_mov_b32 s16, 3
  s_set_gpr_idx_on s16, gpr_idx(SRC0)
  v_add_u32 v9, v4, v0
  s_set_gpr_idx_off
  s_endpgm

k_uninit_lds_bad:
  start
  ds_read_b32 v4, v1
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_uninit_lds_bytes_bad:
  start
  ds_write_b8 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_u16 v4, v1
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_uninit_lds_bytes_good:
  start
  ds_write_b8 v1, v0
  ds_write_b8 v1, v0 offset:1
  s_waitcnt lgkmcnt(0)
  ds_read_u16 v4, v1
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_uninit_mem:
  start
  global_load_dword v4, v1, s[8:9]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v4, s[10:11]
  s_endpgm

k_bounds_read_bad:
  start
  global_load_dword v4, v1, s[8:9] offset:4
  s_waitcnt vmcnt(0)
  s_endpgm
k_bounds_write_bad:
  start
  global_store_dwordx2 v1, v[0:1], s[10:11]
  s_endpgm
k_bounds_smem_bad:
  start
  s_load_dwordx16 s[16:31], s[8:9], 0xfc
  s_waitcnt lgkmcnt(0)
  s_endpgm
k_bounds_scratch_bad:
  start
  scratch_store_dword off, v0, off offset:64
  s_endpgm
k_bounds_lds_bad:
  start
  ds_write_b32 v1, v0 offset:1600
  s_endpgm
k_align_bad:
  start
  global_load_dword v4, v0, s[8:9]
  s_waitcnt vmcnt(0)
  s_endpgm
k_align_atomic_bad:
  start
  v_mov_b32 v4, 1
  global_atomic_add v0, v4, s[10:11]
  s_endpgm
k_align_lds_bad:
  start
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  ds_write_b64 v1, v[4:5]
  s_endpgm
k_registers_bad:
  start
  v_mov_b32 v63, 1
  s_endpgm

; Wave 1 ends early; wave 0 waits at a barrier.
k_barrier_bad:
  start
  v_readfirstlane_b32 s16, v0
  s_cmp_eq_u32 s16, 0
  s_cbranch_scc1 .Lwait
  s_endpgm
.Lwait:
  s_barrier
  s_endpgm

k_trap_bad:
  s_trap 2
  s_endpgm
k_pc_bad:
  s_mov_b64 s[8:9], 0
  s_setpc_b64 s[8:9]
k_unknown_bad:
  .long 0xffffffff
  s_endpgm
k_endless_bad:
.Lloop:
  s_branch .Lloop

; -------------------------------------------------------------- dispatch
; out[(group * items + item) * 4] = packed ids, group x, y, z
k_ids:
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_load_dwordx4 s[12:15], s[0:1], 0x10
  v_and_b32 v4, 0x3ff, v0
  v_bfe_u32 v5, v0, 10, 10
  v_lshrrev_b32 v6, 20, v0
  s_waitcnt lgkmcnt(0)
  ; block x, y, z in s12, s13, s14; groups in x in s15; y groups are two
  v_mul_lo_u32 v7, v6, s13
  v_add_u32 v7, v7, v5
  v_mul_lo_u32 v7, v7, s12
  v_add_u32 v7, v7, v4
  s_lshl_b32 s16, s4, 1
  s_add_u32 s16, s16, s3
  s_mul_i32 s16, s16, s15
  s_add_u32 s16, s16, s2
  s_mul_i32 s17, s12, s13
  s_mul_i32 s17, s17, s14
  s_mul_i32 s16, s16, s17
  v_add_u32 v7, s16, v7
  v_lshlrev_b32 v7, 4, v7
  v_mov_b32 v8, v0
  v_mov_b32 v9, s2
  v_mov_b32 v10, s3
  v_mov_b32 v11, s4
  global_store_dwordx4 v7, v[8:11], s[10:11]
  s_endpgm

k_hidden:
  s_load_dwordx2 s[10:11], s[0:1], 0x8
  s_load_dwordx8 s[16:23], s[0:1], 0x10
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, 0
  v_mov_b32 v4, s16
  v_mov_b32 v5, s17
  v_mov_b32 v6, s18
  v_mov_b32 v7, s19
  v_mov_b32 v8, s20
  v_mov_b32 v9, s21
  v_mov_b32 v10, s22
  v_mov_b32 v11, s23
  global_store_dwordx4 v1, v[4:7], s[10:11]
  global_store_dwordx4 v1, v[8:11], s[10:11] offset:16
  s_endpgm

; Arguments in s[2:5] = {in, out}, groups in s6..s8.
k_preload:
  v_mov_b32 v1, 0
  v_mov_b32 v4, s2
  v_mov_b32 v5, s3
  v_mov_b32 v6, s6
  v_mov_b32 v7, s7
  global_store_dwordx4 v1, v[4:7], s[4:5]
  s_endpgm

; Four waves reverse 256 dwords through LDS.
k_reverse:
  start
  global_load_dword v4, v1, s[8:9]
  v_sub_u32 v3, 1020, v1
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v5, v3
  s_lshl_b32 s16, s2, 10
  v_add_u32 v1, s16, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v5, s[10:11]
  s_endpgm

; Group 0 waits for the sum of all groups' arrivals, whatever runs first.
k_all_arrive:
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[10:11]
  s_waitcnt vmcnt(0)
.Lspin:
  s_sleep 1
  global_load_dword v3, v1, s[10:11] sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s16, v3
  s_cmp_lt_u32 s16, 24
  s_cbranch_scc1 .Lspin
  s_endpgm

; Adds floats in memory: the sum's bits depend on the order of groups.
k_float_sum:
  start
  global_load_dword v4, v1, s[8:9]
  v_mov_b32 v3, 0
  s_waitcnt vmcnt(0)
  v_cvt_f32_u32 v5, s2
  v_fma_f32 v4, v4, v5, v4
  global_atomic_add_f32 v3, v4, s[10:11]
  s_endpgm

k_mode:
  start
  s_getreg_b32 s16, hwreg(HW_REG_MODE)
  v_mov_b32 v4, s16
  global_store_dword v1, v4, s[10:11]
  s_endpgm
