/** Requests to the sink at the same time, for every contestant alike. */
export const IN_FLIGHT = 50;
