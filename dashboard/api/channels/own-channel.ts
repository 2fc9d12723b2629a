// The email channel to one's own address: the one that is there, or a new one.

import type { QueryClient } from '@tanstack/react-query'
import { type ChannelResource, channelsQuery } from '../channels.ts'
import type { Api } from '../client.ts'
import { createChannel } from './change-channel.ts'

const NAME_MAX = 100

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** The channel emails every submission to the address, perhaps among others. */
export const tellsAddress = (
  { type, enabled, to, events, filter }: ChannelResource,
  email: string,
): boolean =>
  type === 'email' &&
  enabled &&
  filter === null &&
  events.includes('submission.created') &&
  to.some((each) => isSame(each, email))

/** A channel that emails every submission to this address alone. */
export const findOwnChannel = (channels: ChannelResource[], email: string): ChannelResource | undefined =>
  channels.find((channel) => tellsAddress(channel, email) && channel.to.length === 1)

/** Makes the channel where there is none. @returns its id */
export async function ensureOwnChannel(api: Api, client: QueryClient, email: string): Promise<number> {
  // Another window may have made it meanwhile.
  const { data } = await client.fetchQuery(channelsQuery(api))
  const own = findOwnChannel(data, email)
  if (own) return own.id
  const created = await createChannel(api, { type: 'email', name: email.slice(0, NAME_MAX), to: [email] })
  await client.invalidateQueries({ queryKey: channelsQuery(api).queryKey })
  return created.id
}

/** The channels that every new form begins with, but for the one to this address alone. */
export const listChannelsOfNewForms = (channels: ChannelResource[], email: string): ChannelResource[] =>
  channels.filter((channel) => channel.allForms && channel.id !== findOwnChannel(channels, email)?.id)
