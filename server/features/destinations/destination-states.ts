// States of a watched destination.

/** In the order of the list: urgent ones come first. The database stores the index. */
export const DESTINATION_STATES = ['broken', 'parked', 'failing', 'not_allowed', 'unchecked', 'ok'] as const
