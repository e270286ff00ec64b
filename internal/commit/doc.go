// Package commit sends the offsets of a member and learns what became of each.
//
// Claims hand their latest offset over and go on; one goroutine, [Loop.Run], sends what has come together in one request, one
// request at a time. What comes meanwhile makes up the next one, so that a batch is as large as the broker is slow, and there is
// never more than one commit of a partition under way.
//
//	claim loops -> Claim.Commit -> due -> Run -> Send -> answers -> Notify
//	                                ^                       |
//	                                '------ again later ----'  while the claim is ours
//
// The broker checks member and generation, never ownership. The fence is here: an offset is sent with the [Owner] of its claim,
// and once [Claim.Release] has returned no request with it is begun, not even a retry, nor one that was put together before. What is not
// stored by then is told once more, as [Dropped].
package commit
