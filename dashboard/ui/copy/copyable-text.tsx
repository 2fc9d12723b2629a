// A line of text with a button that copies it.

import { CopyButton } from './copy-button.tsx'

/** @param label names the button, such as "Copy snippet" */
export const CopyableText = ({ text, label }: { text: string; label: string }) => (
  <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken p-3">
    <code className="min-w-0 flex-1 break-all">{text}</code>
    <CopyButton text={text} label={label} />
  </div>
)
