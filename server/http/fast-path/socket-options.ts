// Sets options of a listening socket for which the runtime has no API. Accepted connections inherit them (Linux:
// tcp(7), socket(7)). They are optional: on other systems the server works without them.

import { dlopen } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { describeError, log } from '../../lib/log.ts'

/**
 * Send buffer in the kernel. The kernel reports free space after a third was sent, which is early enough at 3 KB a
 * second. With a latency of 100 ms it allows 2 MB a second. Linux doubles the value for its own bookkeeping.
 */
const SEND_BUFFER_BYTES = 128 * 1024

// Linux: include/uapi/linux/tcp.h, include/uapi/asm-generic/socket.h.
const [IPPROTO_TCP, TCP_USER_TIMEOUT, SOL_SOCKET, SO_SNDBUF, SO_ACCEPTCONN] = [6, 18, 1, 7, 30]

/** As large as an address of IPv6. It has the port in the same place as one of IPv4 (ip(7), ipv6(7)). */
const ADDRESS_BYTES = 28
const PORT_AT = 2

/**
 * Limits the data that the kernel buffers for a client that does not read.
 * @param port that this process listens on
 * @param untakenMs timeout after which the kernel ends such a connection, even if this process has closed it
 */
export function setListenerOptions(port: number, untakenMs?: number): void {
  if (process.platform !== 'linux') return
  try {
    const { setsockopt } = openLibrary()
    for (const descriptor of findListeners(port)) {
      const set = (level: number, name: number, value: number) =>
        setsockopt(descriptor, level, name, new Int32Array([value]), 4)
      set(SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES)
      if (untakenMs !== undefined) set(IPPROTO_TCP, TCP_USER_TIMEOUT, untakenMs)
    }
  } catch (error) {
    log.warn('socket_options_not_set', { error: describeError(error).error })
  }
}

/**
 * Checks each descriptor of this process. The kernel's table of sockets has those of all programs, so reading it is
 * slow with many connections.
 */
function findListeners(port: number): number[] {
  const { getsockopt, getsockname } = openLibrary()
  const listens = new Int32Array(1)
  const address = Buffer.alloc(ADDRESS_BYTES)
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => {
      const size = new Uint32Array([listens.byteLength])
      if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, listens, size) !== 0 || listens[0] !== 1)
        return false
      const length = new Uint32Array([ADDRESS_BYTES])
      return getsockname(descriptor, address, length) === 0 && address.readUInt16BE(PORT_AT) === port
    })
}

type Library = ReturnType<typeof loadLibrary>['symbols']

let library: Library | undefined

/** @throws if the system has another C library */
function openLibrary(): Library {
  library ??= loadLibrary().symbols
  return library
}

const loadLibrary = () =>
  dlopen('libc.so.6', {
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
  })
