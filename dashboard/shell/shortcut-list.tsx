// The list of all shortcuts that work on the current page.

import { Dialog } from '../ui/overlays/dialog.tsx'
import { listActiveShortcuts, PALETTE_KEYS, toKeyNames } from '../ui/shortcuts.ts'

export const ShortcutList = ({ onClose }: { onClose: () => void }) => (
  <Dialog onClose={onClose} title="Keyboard shortcuts">
    <dl className="grid grid-cols-[1fr_auto] gap-y-2">
      <dt>Search and commands</dt>
      <dd>
        <Keys keys={PALETTE_KEYS} />
      </dd>
      {listActiveShortcuts().map(({ keys, label }) => (
        <div key={keys} className="col-span-2 grid grid-cols-subgrid">
          <dt>{label}</dt>
          <dd>
            <Keys keys={keys} />
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
)

const Keys = ({ keys }: { keys: string }) => (
  <span className="flex justify-end gap-1">
    {toKeyNames(keys).map((key) => (
      <kbd key={key} className="min-w-6 rounded border border-line bg-sunken px-1.5 text-center text-sm">
        {key}
      </kbd>
    ))}
  </span>
)
