export { expandTag, tagOfBytes } from './contents.js';
export {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  BlockRequest,
  BlockStatus,
  blockStatusName,
  type IoOwner,
} from './contract.js';
export { FaultDevice, type FaultDeviceOptions, type FaultRule } from './fault-device.js';
export { ImmediateDevice } from './immediate-device.js';
export { IoBatch } from './io-batch.js';
export { checkGeometry, MemoryDevice, type MemoryDeviceOptions } from './memory-device.js';
export { Origin, OriginTable } from './origin.js';
export { PartitionDevice } from './partition-device.js';
export { type RecordedRequest, RecordingDevice, type RecordingOptions } from './recording-device.js';
export { RequestPool } from './request-pool.js';
export { type RequestFields, submitAndWait } from './submit-and-wait.js';
export { validateRequest } from './validate-request.js';
export { WrapperDevice } from './wrapper-device.js';
export { ZoneTable, type ZoneTableOptions } from './zone-table.js';
export { ZonedMemoryDevice, type ZonedMemoryDeviceOptions } from './zoned-memory-device.js';
export { reportZone, type ZoneCapability, ZoneOp, type ZoneReport, ZoneState, zoneStateName } from './zones.js';
