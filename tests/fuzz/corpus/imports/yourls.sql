CREATE TABLE `yourls_url` (`keyword` varchar(100), `url` text, `title` text, `timestamp` timestamp, `ip` varchar(41), `clicks` int) CHARSET=latin1;
INSERT INTO `yourls_url` VALUES ('a',0x687474703a2f2f612e6578616d706c652f,'it''s \'q\'','2014-03-08 00:38:44','127.0.0.1',0),('b','http://b.example','','','',1);
INSERT INTO `yourls_log` VALUES (1,'2014-03-08 00:38:44','a','direct','Firefox','203.0.113.9','DE');
