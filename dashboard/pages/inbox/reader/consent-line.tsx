// The sender's consent: the text that the page showed, and when.

import { ShieldCheck } from 'lucide-react'
import type { Submission } from '../../../api/submissions.ts'
import { formatTime } from '../../../ui/format.ts'

export const ConsentLine = ({ consent }: { consent: NonNullable<Submission['consent']> }) => (
  <p className="flex items-start gap-2 text-sm">
    <ShieldCheck size={17} aria-hidden className="mt-0.5 shrink-0 text-accent" />
    <span className="min-w-0 break-words">
      Agreed to “{consent.text}”{' '}
      <span className="text-soft">
        ({consent.field}, {formatTime(consent.at)})
      </span>
    </span>
  </p>
)
