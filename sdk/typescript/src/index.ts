/** Edgewise for TypeScript: a client, a worker and a flow builder. No dependencies. */

export { type Call, post } from "./calls.js";
export { type ActOptions, Client, type ClientOptions, Ended, Run, type StartOptions } from "./client.js";
export {
  Cancelled,
  Conflict,
  EdgewiseError,
  Forbidden,
  Invalid,
  NotFound,
  Permanent,
  Problem,
  Retryable,
  RunFailed,
  ServerError,
  TaskFailure,
  TooLarge,
  TooMany,
  Unauthorized,
  Unavailable,
  Unreachable,
  WaitOver,
} from "./errors.js";
export {
  type Bounds,
  type Delivery,
  Flow,
  type FlowOptions,
  type InputOptions,
  type Publish,
  Ref,
  type Retry,
  type Schedule,
  Task,
  type TaskOptions,
  type Timeout,
  type Told,
  Work,
  approval,
  call,
  emit,
  expr,
  external,
  flow,
  item,
  literal,
  person,
  request,
  shell,
  subRun,
  timer,
  webhook,
} from "./flow.js";
export type { Context } from "./hand.js";
export { NotSigned, type PushReply, PushWorker, type SignedHeaders, verify } from "./push.js";
export type { DomainEvent, RunEvent, StreamEvent } from "./stream.js";
export { type Handler, type Log, Worker, type WorkerOptions } from "./worker.js";
