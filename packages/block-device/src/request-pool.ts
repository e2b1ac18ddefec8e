import { BlockRequest, type IoOwner } from './contract.js';

/** Requests of one owner, used again and again. */
export class RequestPool {
  private readonly owner: IoOwner;
  private readonly free: BlockRequest[] = [];
  private made = 0;

  constructor(owner: IoOwner) {
    this.owner = owner;
  }

  /** Requests that are out at the moment. */
  get inUse(): number {
    return this.made - this.free.length;
  }

  /** A cleared request. */
  take(): BlockRequest {
    const request = this.free.pop();
    if (request !== undefined) return request;
    this.made++;
    return new BlockRequest(this.owner);
  }

  /** Takes a request back after its `ioDone`. */
  give(request: BlockRequest): void {
    request.clear();
    this.free.push(request);
  }
}
