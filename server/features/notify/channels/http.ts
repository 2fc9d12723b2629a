// Sends a request that its owner has written: method, headers, and a body with placeholders.

import { fillBody } from '../http-body/fill-body.ts'
import { readBodyType } from '../http-body/request-headers.ts'
import { maskUrl } from './channel-settings.ts'
import type { ChannelSender } from './contract.ts'
import { postJson, readProgram, toIncompleteResult } from './post-json.ts'
import { listUrlSecrets, toResult } from './service-response.ts'

export const sendHttp: ChannelSender = async (needs, to, notice) => {
  const { url, headers = {} } = to.secrets
  const { method, body: template } = to
  if (!url) return toIncompleteResult('URL')
  if (!method || !template) return toIncompleteResult('body')
  const body = fillBody(template, readBodyType(headers), notice)
  if (body === undefined) return TOO_LARGE
  const secrets = [...listUrlSecrets(url), ...listHeaderSecrets(headers)]
  const hiddenHeaders = Object.keys(headers)
    .map((name) => name.toLowerCase())
    .filter((name) => name !== 'content-type')
  const message = { url, shownUrl: maskUrl('http', url), method, headers, body, hiddenHeaders, secrets }
  return postJson(needs, notice, message, readProgram('requests'))
}

const TOO_LARGE = toResult('refused', 'The body would have more than 1 MiB, and was not sent', {
  permanent: { what: 'message', reason: 'The body would have more than 1 MiB' },
})

/** `Bearer <token>`: the token alone is a secret as well. */
export const listHeaderSecrets = (headers: Record<string, string>): string[] =>
  Object.entries(headers)
    .filter(([name]) => name.toLowerCase() !== 'content-type')
    .flatMap(([, value]) => [value, ...value.split(' ')])
    .filter((text) => text.length >= SECRET_MIN)

/** A shorter text is a word such as `true`, which would be hidden everywhere. */
const SECRET_MIN = 8
