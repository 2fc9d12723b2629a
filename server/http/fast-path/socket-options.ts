// Sets options of a listening socket that the runtime has no call for. Accepted connections inherit them (Linux: tcp(7)).
// The server works without them, too: they are a help of the kernel, and only asked for on Linux.

import { dlopen } from 'bun:ffi'
import { describeError, log } from '../../lib/log.ts'

export interface SocketOptions {
  /** The kernel ends a connection whose bytes the other end has not taken for this long, a closed one too. */
  untakenMs: number
  /** How many bytes the kernel keeps for a client that does not take them. It counts twice as much as is asked for. */
  sendBufferBytes: number
}

// Linux: include/uapi/linux/tcp.h, include/uapi/asm-generic/socket.h.
const [IPPROTO_TCP, TCP_USER_TIMEOUT, SOL_SOCKET, SO_SNDBUF] = [6, 18, 1, 7]

/** @returns whether all were set */
export function setSocketOptions(descriptor: number, { untakenMs, sendBufferBytes }: SocketOptions): boolean {
  if (process.platform !== 'linux' || descriptor < 0) return false
  try {
    const library = dlopen('libc.so.6', {
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    })
    const set = (level: number, name: number, value: number) =>
      library.symbols.setsockopt(descriptor, level, name, new Int32Array([value]), 4) === 0
    return set(IPPROTO_TCP, TCP_USER_TIMEOUT, untakenMs) && set(SOL_SOCKET, SO_SNDBUF, sendBufferBytes)
  } catch (error) {
    log.warn('socket_options_not_set', describeError(error))
    return false
  }
}
