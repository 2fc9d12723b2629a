// A short status text on a colored background.

import type { ReactNode } from 'react'
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
