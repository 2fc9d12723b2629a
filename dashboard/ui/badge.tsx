// Small words in a box: a state, or a tag in its colour.

import type { ReactNode } from 'react'
import type { TagResource } from '../../server/features/links/schema.ts'
import { classNames } from './class-names.ts'

const TONES = {
  neutral: 'bg-sunken text-soft',
  good: 'bg-tint text-accent',
  warn: 'bg-warn-tint text-warn',
  bad: 'bg-danger-tint text-danger',
}

export const Badge = ({ tone = 'neutral', children }: { tone?: keyof typeof TONES; children: ReactNode }) => (
  <span
    className={classNames(
      'inline-flex items-center gap-1 rounded-md px-1.5 py-0.5 text-xs font-medium whitespace-nowrap',
      TONES[tone],
    )}
  >
    {children}
  </span>
)

export type TagColor = TagResource['color']

// Written out, because styles are made for the names that stand in the source.
const DOTS: Record<TagColor, string> = {
  red: 'bg-tag-red',
  orange: 'bg-tag-orange',
  yellow: 'bg-tag-yellow',
  green: 'bg-tag-green',
  teal: 'bg-tag-teal',
  blue: 'bg-tag-blue',
  purple: 'bg-tag-purple',
  pink: 'bg-tag-pink',
  gray: 'bg-tag-gray',
}

export const Dot = ({ color }: { color: TagColor }) => (
  <span aria-hidden className={classNames('inline-block size-2 shrink-0 rounded-full', DOTS[color])} />
)

export const TagChip = ({ tag }: { tag: Pick<TagResource, 'name' | 'color'> }) => (
  <span className="inline-flex max-w-40 items-center gap-1.5 rounded-md border border-line px-1.5 py-0.5 text-xs whitespace-nowrap">
    <Dot color={tag.color} />
    <span className="truncate">{tag.name}</span>
  </span>
)
