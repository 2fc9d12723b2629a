// One card in the middle, with the logo above it. The frame that is painted before the scripts has the same places, so it
// has neither hooks nor handlers.

import type { ReactNode } from 'react'
import { Logo } from './logo.tsx'

interface Props {
  children: ReactNode
  /** Below the card. */
  footer?: ReactNode
}

export const CenteredLayout = ({ children, footer }: Props) => (
  <div className="grid min-h-dvh place-items-center p-4">
    <div className="w-full max-w-sm">
      <div className="mb-6 flex items-center gap-2.5 text-lg font-semibold">
        <Logo size={30} />
        Towpath
      </div>
      <div className="grid gap-5 rounded-2xl border border-line bg-card p-6">{children}</div>
      {footer}
    </div>
  </div>
)
