// A bar that fills while something takes its time.

/** @param label the task, for screen readers. @param part from 0 to 1; null while unknown */
export const ProgressBar = ({ label, part }: { label: string; part: number | null }) => (
  <div
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={part === null ? undefined : Math.floor(part * 100)}
    className="h-2 overflow-clip rounded-full bg-sunken"
  >
    <div
      style={{ width: part === null ? '100%' : `${part * 100}%` }}
      className={`h-full rounded-full bg-accent transition-[width] duration-300 ${part === null ? 'pulse opacity-40' : ''}`}
    />
  </div>
)
