// The live stream of a workspace: server-sent events, read with fetch, because the browser's `EventSource` sends no headers.

import type { Api } from './client.ts'

interface LiveLink {
  linkId: number | null
  slug: string | null
  domain: string | null
}

export interface LiveClick extends LiveLink {
  time: string
  country: string | null
  city: string | null
  device: string | null
  browser: string | null
  referrer: string | null
  trigger: 'link' | 'qr'
}

export interface LiveSubmission extends LiveLink {
  time: string
  id: number
  formKey: string
  formName: string
  country: string | null
}

export interface LiveFigures {
  /** When the 30 minutes begin. */
  start: string
  clicks: number
  visitors: number
  submissions: number
  minutes: { time: string; clicks: number; submissions: number }[]
  countries: { country: string; clicks: number }[]
  links: { link: number; slug: string | null; domain: string | null; clicks: number }[]
}

export interface LiveEvents {
  figures: (figures: LiveFigures) => void
  activity: (activity: { clicks: LiveClick[]; submissions: LiveSubmission[] }) => void
}

/** Reads the stream until it ends. @throws when it cannot be opened */
export async function followLive(api: Api, on: LiveEvents, signal: AbortSignal): Promise<void> {
  const { body } = await api.raw('/analytics/live', { signal })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const frames = (rest + part.value).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
      if (data !== undefined && event && event in on) on[event as keyof LiveEvents](JSON.parse(data))
    }
  }
}
