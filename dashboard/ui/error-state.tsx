// Content that could not be loaded: the reason, and a button that tries again.

import { RotateCw } from 'lucide-react'
import { Button } from './button.tsx'

export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div
      role="alert"
      className="grid justify-items-start gap-3 rounded-2xl border border-danger bg-danger-tint p-5"
    >
      <div>
        <h2 className="font-semibold">Couldn’t load this</h2>
        <p className="text-sm">{error instanceof Error ? error.message : String(error)}</p>
      </div>
      {retry && (
        <Button size="small" icon={<RotateCw size={14} />} onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
